SELECT trainer, code_digest, data, data_digest, evaluation_digest, schema, metrics, listed,
       (date_part('epoch', first_seen) * 1000000)::bigint AS first_seen
  FROM offer
