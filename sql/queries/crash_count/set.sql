INSERT INTO crash_count (plan_node_id, step, crashes)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
ON CONFLICT (plan_node_id, step) DO UPDATE SET crashes = excluded.crashes
