INSERT INTO study_event (study_id, number, kind, trial_id, claim_id, step, claim_state, cancelled, message,
       metric_names, metric_values, batch_number, happened_at)
SELECT study_id, number, kind, trial_id, claim_id, step, claim_state, cancelled, message, metric_names::text[],
       metric_values::double precision[], batch_number, happened_at
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
              $8::boolean[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::timestamptz[])
       AS given (study_id, number, kind, trial_id, claim_id, step, claim_state, cancelled, message, metric_names,
                 metric_values, batch_number, happened_at)
