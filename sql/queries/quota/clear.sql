DELETE FROM quota
 USING unnest($1::text[], $2::text[]) AS given (of_whom, name)
 WHERE quota.of_whom = given.of_whom AND quota.name = given.name
