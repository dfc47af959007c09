SELECT plan_node_id, step, file, size_bytes, run_id,
       (extract(epoch FROM stored_at) * 1000000)::bigint AS stored_at FROM checkpoint
