-- A null leaves what is stored as it is.
INSERT INTO point AS stored (plan_node_id, step, state_sha256, failure_kind, failure_message)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
ON CONFLICT (plan_node_id, step) DO UPDATE
   SET state_sha256 = coalesce(excluded.state_sha256, stored.state_sha256),
       failure_kind = coalesce(excluded.failure_kind, stored.failure_kind),
       failure_message = coalesce(excluded.failure_message, stored.failure_message)
 WHERE num_nonnulls(excluded.state_sha256, excluded.failure_kind) > 0
