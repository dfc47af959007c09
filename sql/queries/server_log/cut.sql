-- The beginning of the server's log: what is not among its last $2 bytes.
DELETE FROM server_log
 WHERE server = $1
   AND number IN (SELECT number
                    FROM (SELECT number, sum(size_bytes) OVER (ORDER BY number DESC) AS so_far_bytes
                            FROM server_log
                           WHERE server = $1) AS newest_first
                   WHERE so_far_bytes > $2)
