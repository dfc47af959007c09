-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE trial SET closed = true, cancelled = given.cancelled
    FROM unnest($1::bigint[], $2::boolean[]) AS given (id, cancelled)
   WHERE trial.id = ANY ($1) AND trial.id = given.id AND NOT trial.closed
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
