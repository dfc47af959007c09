INSERT INTO run (id, leadership, plan_id, server, slot, slot_count, device, compute, memory_bytes,
       host_cores, incarnation, offer, start_plan_node_id, start_step, start_file,
       generation, preempt, failed, state, ordered_at, charged_to)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::integer[], $6::integer[], $7::integer[],
              $8::integer[], $9::bigint[], $10::integer[], $11::text[], $12::bytea[], $13::bigint[], $14::bigint[],
              $15::text[], $16::bigint[], $17::boolean[], $18::boolean[], $19::text[], $20::timestamptz[],
              $21::timestamptz[])
