SELECT run_id, plan_node_id, from_step, to_step FROM run_stage ORDER BY run_id, position
