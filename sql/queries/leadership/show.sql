-- Fresh while renewed within the last 3 seconds; connected while the holder has a connection to this database.
SELECT epoch, holder, renewed_at > clock_timestamp() - interval '3 seconds' AS fresh,
       EXISTS (SELECT FROM pg_stat_activity
                WHERE datname = current_database()
                  AND application_name = 'espalier-master epoch ' || leadership.epoch) AS connected
  FROM leadership
