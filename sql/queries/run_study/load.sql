SELECT run_id, study_id FROM run_study ORDER BY run_id, study_id
