DELETE FROM archive
 WHERE sha256 = ANY ($1::text[])
