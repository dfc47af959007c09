-- The oldest runs' output, until the rest has at most $1 bytes.
WITH of_run AS (
  SELECT run_id, sum(size_bytes) AS size_bytes FROM run_output GROUP BY run_id
), newest_first AS (
  SELECT run_id, sum(size_bytes) OVER (ORDER BY run_id DESC) AS so_far_bytes FROM of_run
)
DELETE FROM run_output
 USING newest_first
 WHERE run_output.run_id = newest_first.run_id AND so_far_bytes > $1
