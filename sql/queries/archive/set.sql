INSERT INTO archive (sha256, body, user_name, put_at)
SELECT sha256, body, user_name, put_at
  FROM unnest($1::text[], $2::bytea[], $3::text[], $4::timestamptz[]) AS given (sha256, body, user_name, put_at)
ON CONFLICT (sha256) DO UPDATE
   SET user_name = excluded.user_name, put_at = excluded.put_at
