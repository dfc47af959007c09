SELECT claim.id, trial_id, plan_node_id, step, identity AS evaluation, state
  FROM claim JOIN evaluation ON evaluation.id = claim.evaluation_id JOIN trial ON trial.id = trial_id
 WHERE study_id = ANY ($1::bigint[])
 ORDER BY claim.id
