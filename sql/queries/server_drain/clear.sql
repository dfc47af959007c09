DELETE FROM server_drain
 WHERE server = ANY ($1::text[])
