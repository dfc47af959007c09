SELECT run_id, study_id, serves, microseconds FROM run_study
 WHERE run_id IN (SELECT run_id FROM run_study WHERE study_id = $1)
 ORDER BY run_id, study_id
