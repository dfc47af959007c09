SELECT study_id, request_id, content, produced_ids FROM request WHERE study_id = ANY ($1::bigint[])
