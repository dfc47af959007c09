INSERT INTO hyper_parameter (schema, position, name, type, default_value, initial)
SELECT *
  FROM unnest($1::bytea[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::boolean[])
ON CONFLICT DO NOTHING
