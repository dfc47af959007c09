INSERT INTO checkpoint (plan_node_id, step, file, size_bytes, run_id, stored_at)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::timestamptz[])
ON CONFLICT (plan_node_id, step) DO UPDATE
   SET file = excluded.file, size_bytes = excluded.size_bytes, run_id = excluded.run_id,
       stored_at = excluded.stored_at
