SELECT run_id, study_id, serves, microseconds FROM run_study JOIN run ON run.id = run_id
 WHERE NOT retired
 ORDER BY run_id, study_id
