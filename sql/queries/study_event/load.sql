SELECT study_id, number, kind, trial_id, claim_id, step, claim_state, cancelled, message, metric_names,
       metric_values, batch_number, (date_part('epoch', happened_at) * 1000000)::bigint AS happened_at
  FROM study_event WHERE study_id = ANY ($1::bigint[])
 ORDER BY study_id, number
