DELETE FROM evaluation_failure
 USING unnest($1::bigint[], $2::bigint[], $3::text[]) AS given (plan_node_id, step, evaluation)
 WHERE evaluation_failure.plan_node_id = ANY ($1) AND evaluation_failure.plan_node_id = given.plan_node_id
   AND evaluation_failure.step = given.step AND evaluation_failure.evaluation = given.evaluation
