-- What the database takes on its disk.
SELECT pg_database_size(current_database()) AS bytes
