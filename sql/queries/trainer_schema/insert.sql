INSERT INTO trainer_schema (digest)
SELECT *
  FROM unnest($1::bytea[])
ON CONFLICT DO NOTHING
