SELECT claim.id, trial_id, plan_node_id, step, identity AS evaluation, state
  FROM claim JOIN evaluation ON evaluation.id = claim.evaluation_id ORDER BY claim.id
