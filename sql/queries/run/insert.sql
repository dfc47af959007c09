INSERT INTO run (id, leadership, plan_id, server, slot, incarnation, offer, start_plan_node_id, start_step, start_file,
       generation, preempt, failed, state, ordered_at, charged_to)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::integer[], $6::text[], $7::bytea[],
              $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::boolean[], $13::boolean[], $14::text[],
              $15::timestamptz[], $16::timestamptz[])
