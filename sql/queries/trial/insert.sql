INSERT INTO trial (id, study_id, plan_id, leaf_id, horizon_steps, closed, cancelled, sequence_names,
       sequence_expressions, label_policy, label)
SELECT id, study_id, plan_id, leaf_id, horizon_steps, closed, cancelled, sequence_names::text[],
       sequence_expressions::text[], label_policy, label
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[],
              $7::boolean[], $8::text[], $9::text[], $10::text[], $11::text[])
       AS given (id, study_id, plan_id, leaf_id, horizon_steps, closed, cancelled, sequence_names,
                 sequence_expressions, label_policy, label)
