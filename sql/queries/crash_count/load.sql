SELECT plan_node_id, step, crashes FROM crash_count
