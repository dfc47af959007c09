SELECT run_id, study_id, serves, microseconds FROM run_study ORDER BY run_id, study_id
