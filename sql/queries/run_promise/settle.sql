-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE run_promise SET state = given.state, settled_at = given.settled_at
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS given (id, state, settled_at)
   WHERE run_promise.id = ANY ($1) AND run_promise.id = given.id AND run_promise.state = 'open'
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
