SELECT pg_terminate_backend(pid)
  FROM pg_stat_activity
 WHERE datname = current_database() AND application_name = 'espalier-master epoch ' || $1::bigint
