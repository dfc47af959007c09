SELECT trainer, code_digest, data, data_digest, evaluation_digest, schema, metrics, listed,
       (extract(epoch FROM first_seen) * 1000000)::bigint AS first_seen
  FROM offer
