INSERT INTO search_plan (id, identity, training, device_kind, scope)
SELECT *
  FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::text[], $5::text[])
