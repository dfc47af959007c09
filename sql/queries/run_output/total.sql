SELECT coalesce(sum(size_bytes), 0)::bigint AS total_bytes
  FROM run_output
