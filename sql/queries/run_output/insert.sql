-- No row for a run that was not given to such a node manager.
WITH given_run AS (
  SELECT id FROM run WHERE id = $1 AND leadership = $2 AND incarnation = $3
), stored AS (
  INSERT INTO run_output (run_id, position, step, size_bytes, body)
  SELECT given_run.id, position, step, size_bytes, body
    FROM given_run,
         unnest($4::bigint[], $5::bigint[], $6::integer[], $7::text[]) WITH ORDINALITY
         AS given (position, step, size_bytes, body, place)
   ORDER BY place
  ON CONFLICT (run_id, position) DO NOTHING
  RETURNING size_bytes
)
SELECT (SELECT count(*) FROM given_run) AS runs, coalesce(sum(size_bytes), 0)::bigint AS stored_bytes
  FROM stored
