SELECT run_id, plan_node_id, from_step, to_step FROM run_stage JOIN run ON run.id = run_id
 WHERE NOT retired
 ORDER BY run_id, position
