SELECT id, run_id, step, owed, state,
       (date_part('epoch', made_at) * 1000000)::bigint AS made_at,
       (date_part('epoch', settled_at) * 1000000)::bigint AS settled_at
  FROM run_promise
 WHERE run_id IN (SELECT run_id FROM run_study WHERE study_id = $1)
