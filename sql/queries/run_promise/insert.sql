INSERT INTO run_promise (run_id, step, evaluate, save, state, made_at, settled_at)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::boolean[], $5::text[], $6::timestamptz[],
              $7::timestamptz[])
