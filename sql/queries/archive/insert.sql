INSERT INTO archive (sha256, body, user_name, put_at)
SELECT *
  FROM unnest($1::text[], $2::bytea[], $3::text[], $4::timestamptz[])
