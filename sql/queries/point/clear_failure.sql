-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE point SET failure_kind = NULL, failure_message = NULL
    FROM unnest($1::bigint[], $2::bigint[]) AS given (plan_node_id, step)
   WHERE point.plan_node_id = ANY ($1) AND point.plan_node_id = given.plan_node_id AND point.step = given.step
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
