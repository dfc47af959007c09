-- A null state leaves the stored one as it is; the failure, which may be cleared, only where it is given.
INSERT INTO point AS stored (plan_node_id, step, state_sha256, disputed, failure_kind, failure_message)
SELECT plan_node_id, step, state_sha256, disputed, failure_kind, failure_message
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::boolean[], $5::text[], $6::text[])
       AS given (plan_node_id, step, state_sha256, disputed, failure_kind, failure_message)
ON CONFLICT (plan_node_id, step) DO UPDATE
   SET state_sha256 = coalesce(excluded.state_sha256, stored.state_sha256),
       disputed = CASE WHEN excluded.state_sha256 IS NULL THEN stored.disputed ELSE excluded.disputed END,
       failure_kind = coalesce(excluded.failure_kind, stored.failure_kind),
       failure_message = coalesce(excluded.failure_message, stored.failure_message)
 WHERE num_nonnulls(excluded.state_sha256, excluded.failure_kind) > 0
