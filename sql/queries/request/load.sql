SELECT study_id, request_id, content, produced_ids FROM request
