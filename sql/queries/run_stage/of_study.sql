SELECT run_id, plan_node_id, from_step, to_step FROM run_stage
 WHERE run_id IN (SELECT run_id FROM run_study WHERE study_id = $1)
 ORDER BY run_id, position
