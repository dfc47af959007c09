INSERT INTO trained_range (plan_node_id, run_id, from_step, to_step, seconds)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::double precision[])
ON CONFLICT (plan_node_id, run_id) DO UPDATE
   SET from_step = excluded.from_step, to_step = excluded.to_step, seconds = excluded.seconds
