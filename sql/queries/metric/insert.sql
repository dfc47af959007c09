-- The first metrics of a point and an evaluation stay.
INSERT INTO metric (plan_node_id, step, evaluation_id, names, measured)
SELECT plan_node_id, step, evaluation.id, names::text[], measured::double precision[]
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
       AS given (plan_node_id, step, evaluation, names, measured)
  JOIN evaluation ON evaluation.identity = given.evaluation
ON CONFLICT (plan_node_id, step, evaluation_id) DO NOTHING
