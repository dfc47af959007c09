INSERT INTO claim (id, trial_id, plan_node_id, step, evaluation_id, state)
SELECT given.id, trial_id, plan_node_id, step, evaluation.id, state
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
       AS given (id, trial_id, plan_node_id, step, evaluation, state)
  JOIN evaluation ON evaluation.identity = given.evaluation
