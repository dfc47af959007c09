-- Changes the key: waits for transactions of the epoch that is taken over. No row: another master was faster.
WITH taken AS (
  UPDATE leadership SET epoch = epoch + 1, holder = $2, id = $3, renewed_at = clock_timestamp() WHERE epoch = $1
  RETURNING epoch, id
)
INSERT INTO past_leadership (id, epoch) SELECT id, epoch FROM taken
RETURNING epoch
