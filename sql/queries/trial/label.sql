-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE trial SET label_policy = given.label_policy, label = given.label
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (id, label_policy, label)
   WHERE trial.id = ANY ($1) AND trial.id = given.id
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
