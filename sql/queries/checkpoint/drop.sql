DELETE FROM checkpoint
 USING unnest($1::bigint[], $2::bigint[]) AS given (plan_node_id, step)
 WHERE checkpoint.plan_node_id = ANY ($1) AND checkpoint.plan_node_id = given.plan_node_id AND checkpoint.step = given.step
