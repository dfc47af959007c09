-- Adds to what was charged.
INSERT INTO run_study AS stored (run_id, study_id, serves, microseconds)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::bigint[])
ON CONFLICT (run_id, study_id) DO UPDATE
   SET serves = excluded.serves, microseconds = stored.microseconds + excluded.microseconds
