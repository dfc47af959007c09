SELECT name, team, role, token_sha256 FROM service_user
