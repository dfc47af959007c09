INSERT INTO trainer (name, data, code_digest, data_digest, evaluation_digest, schema, metrics)
SELECT name, data, code_digest, data_digest, evaluation_digest, schema, metrics::text[]
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[],
       $7::text[]) AS given (name, data, code_digest, data_digest, evaluation_digest, schema, metrics)
ON CONFLICT (name, data) DO UPDATE
   SET code_digest = excluded.code_digest, data_digest = excluded.data_digest,
       evaluation_digest = excluded.evaluation_digest, schema = excluded.schema, metrics = excluded.metrics
