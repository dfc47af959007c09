SELECT name, team, role, token_sha256, servers FROM service_user
