-- Some of those that were answered before, and of retired studies, or of none.
DELETE FROM request
 WHERE (study_id, request_id) IN (
  SELECT request.study_id, request_id
    FROM request JOIN retired_study ON retired_study.study_id = request.study_id
   WHERE retired_at < to_timestamp($1::double precision) AND answered_at < to_timestamp($1::double precision)
   LIMIT 10000)
    OR (study_id, request_id) IN (
  SELECT study_id, request_id
    FROM request WHERE study_id = 0 AND answered_at < to_timestamp($1::double precision)
   LIMIT 10000)
