SELECT server, drained_by, why, (extract(epoch FROM since) * 1000000)::bigint AS since
  FROM server_drain
