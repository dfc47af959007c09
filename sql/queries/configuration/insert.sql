-- A digest that is stored with another body cannot stay so: that would break a constraint. No join: its plan is made
-- once, while one with a join is made for each length of the arrays.
INSERT INTO configuration (digest, body)
SELECT *
  FROM unnest($1::bytea[], $2::bytea[])
ON CONFLICT (digest) DO UPDATE SET body = NULL WHERE configuration.body <> excluded.body
