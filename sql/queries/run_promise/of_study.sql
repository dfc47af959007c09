SELECT id, run_id, step, owed, state,
       (extract(epoch FROM made_at) * 1000000)::bigint AS made_at,
       (extract(epoch FROM settled_at) * 1000000)::bigint AS settled_at
  FROM run_promise
 WHERE run_id IN (SELECT run_id FROM run_study WHERE study_id = $1)
