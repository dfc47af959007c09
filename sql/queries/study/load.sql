SELECT id, user_name, team, name, trainer, data, step_updates, evaluate_every, metric, goal, scope, definition,
       training,
       device_kind, evaluation, metric_names, (date_part('epoch', created_at) * 1000000)::bigint AS created_at,
       (date_part('epoch', finished_at) * 1000000)::bigint AS finished_at, closing, cancelled,
       reference, keep, check_when, hang_after, tuner, asks_for_idle_slots, stop_after, stop_device_time, stop_metric,
       stopped, keep_now, weight, reuse_study_id, reuse_until, may_stop, deadline, min_steps, priority, first_run_id
  FROM study ORDER BY id
