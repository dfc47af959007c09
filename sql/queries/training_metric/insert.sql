-- What is known already, of these very steps, is said again.
INSERT INTO training_metric (plan_node_id, name, first_step, last_step, steps, body)
SELECT plan_node_id, name, first_step, last_step, steps::bigint[], body::double precision[]
  FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
       AS given (plan_node_id, name, first_step, last_step, steps, body)
ON CONFLICT (plan_node_id, name, first_step, last_step) DO NOTHING
