INSERT INTO run_stage (run_id, position, plan_node_id, from_step, to_step)
SELECT *
  FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::bigint[], $5::bigint[])
