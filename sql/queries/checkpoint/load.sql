SELECT plan_node_id, step, file, size_bytes, run_id,
       (date_part('epoch', stored_at) * 1000000)::bigint AS stored_at FROM checkpoint
