-- What was written more than $1 days ago, a few rows at a time.
DELETE FROM server_log
 WHERE number IN (SELECT number FROM server_log ORDER BY number LIMIT 10)
   AND stored_at < now() - make_interval(days => $1)
