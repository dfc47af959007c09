SELECT sha256, body, user_name, (extract(epoch FROM put_at) * 1000000)::bigint AS put_at
  FROM archive
