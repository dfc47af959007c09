SELECT id, trial_id, plan_node_id, step, evaluation, state FROM claim ORDER BY id
