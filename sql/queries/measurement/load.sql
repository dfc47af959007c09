SELECT plan_node_id, kind, units, total FROM measurement
