INSERT INTO study_hyper_parameter (study_id, name, type)
SELECT *
  FROM unnest($1::bigint[], $2::text[], $3::text[])
