INSERT INTO server_log (server, incarnation, position, size_bytes, body)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (server, incarnation, position) DO NOTHING
