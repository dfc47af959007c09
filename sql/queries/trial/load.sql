SELECT id, study_id, plan_id, leaf_id, horizon_steps, closed, cancelled, sequence_names, sequence_expressions,
       label_policy, label
  FROM trial WHERE study_id = ANY ($1::bigint[])
 ORDER BY id
