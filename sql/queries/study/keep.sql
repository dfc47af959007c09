-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE study SET keep_now = given.keep_now
    FROM unnest($1::bigint[], $2::text[]) AS given (id, keep_now)
   WHERE study.id = ANY ($1) AND study.id = given.id
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
