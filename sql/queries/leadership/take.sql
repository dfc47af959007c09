-- Changes the key: waits for transactions of the epoch that is taken over. No row: another master was faster.
UPDATE leadership SET epoch = epoch + 1, holder = $2, renewed_at = clock_timestamp() WHERE epoch = $1
RETURNING epoch
