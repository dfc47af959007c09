INSERT INTO run_promise (id, run_id, step, owed, state, made_at, settled_at)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])
