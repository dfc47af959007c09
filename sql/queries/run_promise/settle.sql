-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE run_promise SET state = given.state, settled_at = given.settled_at
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::timestamptz[]) AS given (run_id, step, state, settled_at)
   WHERE run_promise.run_id = ANY ($1) AND run_promise.run_id = given.run_id AND run_promise.step = given.step
     AND run_promise.state = 'open'
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
