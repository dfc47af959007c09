-- A null leaves what is stored as it is. Divides by zero, and so fails, unless every row was written: memory and database
-- disagree.
WITH written AS (
  UPDATE run
     SET generation = coalesce(given.generation, run.generation), preempt = coalesce(given.preempt, run.preempt),
         failed = run.failed OR given.failed, state = coalesce(given.state, run.state),
         charged_to = coalesce(given.charged_to, run.charged_to)
    FROM unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::boolean[], $5::text[], $6::timestamptz[])
         AS given (id, generation, preempt, failed, state, charged_to)
   WHERE run.id = ANY ($1) AND run.id = given.id AND run.state <> 'ended'
     AND coalesce(given.generation > run.generation, true)
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
