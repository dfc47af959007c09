-- The middle of a run's output: what is neither among its first $2 bytes nor among its last $3.
WITH cut AS (
  DELETE FROM run_output
   WHERE run_id = $1 AND position >= $2
     AND position + size_bytes <= (SELECT max(position + size_bytes) FROM run_output WHERE run_id = $1) - $3
  RETURNING size_bytes
)
SELECT coalesce(sum(size_bytes), 0)::bigint AS cut_bytes
  FROM cut
