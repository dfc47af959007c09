SELECT study_id, (date_part('epoch', retired_at) * 1000000)::bigint AS retired_at, waiting, idle, done, failed,
       cancelled, claimed_steps, best_trial_id, best, best_step, unique_steps, trained_steps,
       re_derived_steps, wasted_steps, reused_steps, wanted_steps, wanted_once_steps, wanted_trained_steps,
       claimed_time, unique_time, device_time, shared_time, kept_node_ids, kept_steps
  FROM retired_study ORDER BY study_id
