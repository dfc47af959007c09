-- Of what may have left memory: ids are never used again.
SELECT (SELECT coalesce(max(id), 0) FROM trial) AS trial, (SELECT coalesce(max(id), 0) FROM claim) AS claim,
       (SELECT coalesce(max(id), 0) FROM run) AS run, (SELECT coalesce(max(id), 0) FROM run_promise) AS promise
