DELETE FROM attempt
 USING unnest($1::bigint[], $2::bigint[], $3::text[]) AS given (plan_node_id, from_step, evaluation)
 WHERE attempt.plan_node_id = ANY ($1) AND attempt.plan_node_id = given.plan_node_id
   AND attempt.from_step = given.from_step AND attempt.evaluation = given.evaluation
