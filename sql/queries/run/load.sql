SELECT id, plan_id, server, slot, incarnation, start_plan_node_id, start_step, generation, preempt, state,
       (extract(epoch FROM ordered_at) * 1000000)::bigint AS ordered_at, slot_seconds
  FROM run ORDER BY id
