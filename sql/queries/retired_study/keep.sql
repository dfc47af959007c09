-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE retired_study SET kept_node_ids = given.nodes::bigint[], kept_steps = given.steps::bigint[]
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (id, nodes, steps)
   WHERE study_id = ANY ($1) AND study_id = given.id
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
