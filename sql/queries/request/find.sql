SELECT content, produced_ids FROM request WHERE study_id = $1 AND request_id = $2
