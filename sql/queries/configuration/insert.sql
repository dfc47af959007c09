-- Returns the digests that are stored with another body: none, unless two bodies have one digest.
WITH given AS (
  SELECT * FROM unnest($1::bytea[], $2::bytea[]) AS given (digest, body)
), added AS (
  INSERT INTO configuration (digest, body) SELECT * FROM given ON CONFLICT DO NOTHING
)
SELECT given.digest
  FROM given JOIN configuration AS stored USING (digest)
 WHERE stored.body <> given.body
