INSERT INTO offer (digest, trainer, code_digest, data, data_digest, evaluation_digest, schema, metrics, first_seen,
       listed)
SELECT digest, trainer, code_digest, data, data_digest, evaluation_digest, schema, metrics::text[], first_seen,
       listed
  FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[],
              $9::timestamptz[], $10::boolean[])
       AS given (digest, trainer, code_digest, data, data_digest, evaluation_digest, schema, metrics, first_seen,
                 listed)
