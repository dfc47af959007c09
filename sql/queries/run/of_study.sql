SELECT id, leadership, plan_id, server, slot, slot_count, device, compute, memory_bytes, host_cores, incarnation, offer,
       evaluation_digest AS evaluation, start_plan_node_id, start_step, start_file, generation, preempt, failed, state,
       (date_part('epoch', ordered_at) * 1000000)::bigint AS ordered_at,
       (date_part('epoch', charged_to) * 1000000)::bigint AS charged_to
  FROM run JOIN offer ON offer.digest = run.offer
 WHERE id IN (SELECT run_id FROM run_study WHERE study_id = $1)
 ORDER BY id
