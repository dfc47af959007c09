INSERT INTO measurement (plan_node_id, kind, units, total)
SELECT *
  FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
ON CONFLICT (plan_node_id, kind) DO UPDATE SET units = excluded.units, total = excluded.total
