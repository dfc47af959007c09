SELECT plan_node_id, step, evaluation, message FROM evaluation_failure
