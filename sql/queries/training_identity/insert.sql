INSERT INTO training_identity (digest, trainer, code_digest, data, data_digest, step_updates, schema)
SELECT *
  FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bytea[])
ON CONFLICT DO NOTHING
