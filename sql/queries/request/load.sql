SELECT study_id, request_id, content, produced_ids, (date_part('epoch', answered_at) * 1000000)::bigint AS answered_at
  FROM request WHERE study_id = ANY ($1::bigint[])
