INSERT INTO run_study (run_id, study_id)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[])
