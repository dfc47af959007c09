SELECT study_event.study_id, number, kind, study_event.trial_id, claim_id, study_event.step, claim_state, cancelled, message,
       coalesce(metric_names, names) AS metric_names, coalesce(metric_values, measured) AS metric_values, batch_number,
       (date_part('epoch', happened_at) * 1000000)::bigint AS happened_at
  FROM study_event
  LEFT JOIN claim ON claim.id = claim_id AND claim_state = 'done' AND metric_names IS NULL
  LEFT JOIN metric ON metric.plan_node_id = claim.plan_node_id AND metric.step = claim.step
                  AND metric.evaluation_id = claim.evaluation_id
 WHERE study_event.study_id = $1
 ORDER BY number
