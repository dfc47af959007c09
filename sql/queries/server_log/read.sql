-- Of the server $1 behind the number $2, at most $3 bytes and one row at least.
WITH kept AS (
  SELECT number, incarnation, position, body, sum(size_bytes) OVER (ORDER BY number) - size_bytes AS before_bytes
    FROM server_log
   WHERE server = $1 AND number > $2
)
SELECT number, incarnation, position, body
  FROM kept
 WHERE before_bytes < $3
 ORDER BY number
