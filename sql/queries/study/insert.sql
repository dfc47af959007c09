INSERT INTO study (id, user_name, team, name, trainer, data, step_updates, evaluate_every, metric, goal, scope,
       definition, training, device_kind, evaluation, metric_names, created_at, finished_at, closing, cancelled, reference,
       keep, check_when, hang_after, tuner, asks_for_idle_slots, stop_after, stop_device_time,
       stop_metric, stopped, keep_now, weight, reuse_study_id, reuse_until, may_stop, deadline, min_steps, priority, first_run_id)
SELECT id, user_name, team, name, trainer, data, step_updates, evaluate_every, metric, goal, scope, definition,
       training, device_kind, evaluation, metric_names::text[], created_at, finished_at, closing, cancelled,
       reference, keep, check_when, hang_after, tuner, asks_for_idle_slots, stop_after, stop_device_time,
       stop_metric, stopped, keep_now, weight, reuse_study_id, reuse_until, may_stop, deadline, min_steps, priority, first_run_id
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
              $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::bytea[], $14::text[],
              $15::text[], $16::text[], $17::timestamptz[], $18::timestamptz[], $19::boolean[],
              $20::boolean[], $21::bytea[], $22::text[], $23::text[], $24::double precision[], $25::text[], $26::boolean[],
              $27::double precision[], $28::double precision[], $29::double precision[], $30::text[], $31::text[],
              $32::double precision[], $33::bigint[], $34::bigint[], $35::boolean[], $36::double precision[], $37::bigint[],
              $38::double precision[], $39::bigint[]) AS given (id,
       user_name, team, name, trainer, data, step_updates, evaluate_every, metric, goal, scope, definition,
       training, device_kind, evaluation, metric_names, created_at, finished_at, closing, cancelled, reference, keep,
       check_when, hang_after, tuner, asks_for_idle_slots, stop_after, stop_device_time,
       stop_metric, stopped, keep_now, weight, reuse_study_id, reuse_until, may_stop, deadline, min_steps, priority, first_run_id)
