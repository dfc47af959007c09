INSERT INTO trial_sequence (trial_id, name, expression)
SELECT *
  FROM unnest($1::bigint[], $2::text[], $3::text[])
