INSERT INTO quota (of_whom, name, open_trials, plan_nodes, stored_bytes, device_time)
SELECT *
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::double precision[])
ON CONFLICT (of_whom, name) DO UPDATE
   SET open_trials = excluded.open_trials, plan_nodes = excluded.plan_nodes, stored_bytes = excluded.stored_bytes,
       device_time = excluded.device_time
