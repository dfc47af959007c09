INSERT INTO trainer_schema (digest, takes_any)
SELECT *
  FROM unnest($1::bytea[], $2::boolean[])
ON CONFLICT DO NOTHING
