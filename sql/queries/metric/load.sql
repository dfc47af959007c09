SELECT plan_node_id, step, evaluation, name, value FROM metric
