SELECT sha256, body, user_name, (date_part('epoch', put_at) * 1000000)::bigint AS put_at
  FROM archive
