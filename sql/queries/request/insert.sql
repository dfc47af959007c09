INSERT INTO request (study_id, request_id, content, produced_ids)
SELECT study_id, request_id, content, produced_ids::bigint[]
  FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[]) AS given (study_id, request_id, content,
       produced_ids)
