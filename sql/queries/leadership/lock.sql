-- No row: another master leads. Shares the key, so that a takeover waits for this transaction and a renewal does not.
SELECT FROM leadership WHERE epoch = $1 FOR KEY SHARE
