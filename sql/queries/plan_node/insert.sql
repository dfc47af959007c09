INSERT INTO plan_node (id, plan_id, parent_id, start_step, configuration, origin_node_id, origin_step, study_id)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[], $7::bigint[],
              $8::bigint[])
