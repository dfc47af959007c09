SELECT plan_node_id, run_id, from_step, to_step, seconds FROM trained_range ORDER BY plan_node_id, number
