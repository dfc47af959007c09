INSERT INTO server_drain (server, drained_by, why, since)
SELECT server, drained_by, why, since
  FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS given (server, drained_by, why, since)
ON CONFLICT (server) DO UPDATE
   SET drained_by = excluded.drained_by, why = excluded.why, since = excluded.since
