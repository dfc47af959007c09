-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE claim SET state = given.state
    FROM unnest($1::bigint[], $2::text[]) AS given (id, state)
   WHERE claim.id = ANY ($1) AND claim.id = given.id AND claim.state = 'waiting'
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
