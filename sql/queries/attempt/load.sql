SELECT plan_node_id, from_step, evaluation, crashes, kills, unusable, earliest_step, servers, lost_servers, begun_node_id, begun_step,
       (date_part('epoch', not_before) * 1000000)::bigint AS not_before, held, log,
       demand_compute, demand_bytes
  FROM attempt
