SELECT plan_node_id, step, state_sha256, disputed, failure_kind, failure_message FROM point
