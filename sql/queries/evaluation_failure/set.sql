INSERT INTO evaluation_failure (plan_node_id, step, evaluation, message)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
ON CONFLICT (plan_node_id, step, evaluation) DO UPDATE SET message = excluded.message
