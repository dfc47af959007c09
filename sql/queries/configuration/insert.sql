-- A digest that is stored with another body cannot stay so: that would break a constraint.
INSERT INTO configuration (digest, body)
SELECT *
  FROM unnest($1::bytea[], $2::bytea[])
ON CONFLICT (digest) DO UPDATE SET body = NULL WHERE configuration.body <> excluded.body
