-- Divides by zero, and so fails, unless every row was written: memory and database disagree.
WITH written AS (
  UPDATE run
     SET generation = given.generation, preempt = given.preempt, state = given.state, slot_seconds = given.slot_seconds
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[], $6::text[],
                $7::double precision[])
         AS given (id, old_state, old_generation, generation, preempt, state, slot_seconds)
   WHERE run.id = ANY ($1) AND run.id = given.id
     AND run.state = given.old_state AND run.generation = given.old_generation
  RETURNING 1
)
SELECT 1 / (count(*) = cardinality($1))::integer FROM written
