-- The first metrics of a point and an evaluation stay.
INSERT INTO metric (plan_node_id, step, evaluation, name, value)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::double precision[])
       AS given (plan_node_id, step, evaluation, name, value)
 WHERE (SELECT count(*) FROM metric AS stored
         WHERE stored.plan_node_id = given.plan_node_id AND stored.step = given.step
           AND stored.evaluation = given.evaluation) = 0
