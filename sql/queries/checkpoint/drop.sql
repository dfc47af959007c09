-- A file that another has replaced is not dropped.
DELETE FROM checkpoint
 USING unnest($1::bigint[], $2::bigint[], $3::text[]) AS given (plan_node_id, step, file)
 WHERE checkpoint.plan_node_id = ANY ($1) AND checkpoint.plan_node_id = given.plan_node_id
   AND checkpoint.step = given.step AND checkpoint.file = given.file
