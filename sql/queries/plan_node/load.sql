SELECT id, plan_id, parent_id, start_step, body, origin_node_id, origin_step, study_id
  FROM plan_node JOIN configuration ON configuration.digest = plan_node.configuration ORDER BY id
