-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE run SET retired = true WHERE run.id = ANY ($1::bigint[]) AND state = 'ended' AND NOT retired
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
