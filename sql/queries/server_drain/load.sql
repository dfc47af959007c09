SELECT server, drained_by, why, (date_part('epoch', since) * 1000000)::bigint AS since
  FROM server_drain
