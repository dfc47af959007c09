SELECT id, plan_id, parent_id, start_step, body
  FROM plan_node JOIN configuration ON configuration.digest = plan_node.configuration ORDER BY id
