INSERT INTO run (id, plan_id, server, slot, incarnation, start_plan_node_id, start_step, generation, preempt,
       state, ordered_at, slot_seconds)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::bigint[],
              $8::bigint[], $9::boolean[], $10::text[], $11::timestamptz[], $12::double precision[])
