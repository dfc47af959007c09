INSERT INTO search_plan (id, identity, training, device_kind, scope, team, study_id, trial_id)
SELECT *
  FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[])
