INSERT INTO request (study_id, request_id, content, produced_ids, answered_at)
SELECT study_id, request_id, content, produced_ids::bigint[], answered_at
  FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[], $5::timestamptz[]) AS given (study_id, request_id,
       content, produced_ids, answered_at)
