INSERT INTO attempt (plan_node_id, from_step, evaluation, crashes, kills, unusable, earliest_step, servers, lost_servers,
       begun_node_id, begun_step, not_before, held, log, demand_compute, demand_bytes)
SELECT plan_node_id, from_step, evaluation, crashes, kills, unusable, earliest_step, servers::text[], lost_servers::text[],
       begun_node_id, begun_step, not_before, held, log, demand_compute, demand_bytes
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
              $9::text[], $10::bigint[], $11::bigint[], $12::timestamptz[], $13::boolean[], $14::text[],
              $15::integer[], $16::bigint[])
       AS given (plan_node_id, from_step, evaluation, crashes, kills, unusable, earliest_step, servers, lost_servers, begun_node_id,
                 begun_step, not_before, held, log, demand_compute, demand_bytes)
ON CONFLICT (plan_node_id, from_step, evaluation) DO UPDATE
   SET crashes = excluded.crashes, kills = excluded.kills, unusable = excluded.unusable, earliest_step = excluded.earliest_step,
       servers = excluded.servers, lost_servers = excluded.lost_servers, begun_node_id = excluded.begun_node_id,
       begun_step = excluded.begun_step, not_before = excluded.not_before, held = excluded.held, log = excluded.log,
       demand_compute = excluded.demand_compute, demand_bytes = excluded.demand_bytes
