INSERT INTO service_user (name, team, role, token_sha256, servers)
SELECT name, team, role, token_sha256, servers::text[]
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
       AS given (name, team, role, token_sha256, servers)
ON CONFLICT (name) DO UPDATE
   SET team = excluded.team, role = excluded.role, token_sha256 = excluded.token_sha256, servers = excluded.servers
