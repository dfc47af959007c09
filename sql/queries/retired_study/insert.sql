INSERT INTO retired_study (study_id, retired_at, waiting, idle, done, failed, cancelled, claimed_steps, best_trial_id, best, best_step,
       unique_steps, trained_steps, re_derived_steps, wasted_steps, reused_steps, wanted_steps,
       wanted_once_steps, wanted_trained_steps, claimed_time, unique_time, device_time, shared_time,
       kept_node_ids, kept_steps)
SELECT study_id, retired_at, waiting, idle, done, failed, cancelled, claimed_steps, best_trial_id, best, best_step,
       unique_steps, trained_steps, re_derived_steps, wasted_steps, reused_steps, wanted_steps,
       wanted_once_steps, wanted_trained_steps, claimed_time, unique_time, device_time, shared_time,
       kept_node_ids::bigint[], kept_steps::bigint[]
  FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
              $8::bigint[], $9::bigint[], $10::double precision[], $11::bigint[], $12::bigint[],
              $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
              $19::bigint[], $20::numeric[], $21::numeric[], $22::bigint[], $23::bigint[], $24::text[],
              $25::text[])
       AS given (study_id, retired_at, waiting, idle, done, failed, cancelled, claimed_steps, best_trial_id, best, best_step,
                 unique_steps, trained_steps, re_derived_steps, wasted_steps, reused_steps, wanted_steps,
                 wanted_once_steps, wanted_trained_steps, claimed_time, unique_time, device_time, shared_time,
                 kept_node_ids, kept_steps)
