-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE study SET closing = true, cancelled = study.cancelled OR given.cancelled,
         stopped = CASE study.stopped WHEN '' THEN given.stopped ELSE study.stopped END
    FROM unnest($1::bigint[], $2::boolean[], $3::text[]) AS given (id, cancelled, stopped)
   WHERE study.id = ANY ($1) AND study.id = given.id AND study.finished_at IS NULL
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
