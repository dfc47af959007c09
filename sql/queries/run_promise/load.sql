SELECT run_promise.id, run_id, step, owed, run_promise.state,
       (date_part('epoch', made_at) * 1000000)::bigint AS made_at,
       (date_part('epoch', settled_at) * 1000000)::bigint AS settled_at
  FROM run_promise JOIN run ON run.id = run_id
 WHERE NOT retired
