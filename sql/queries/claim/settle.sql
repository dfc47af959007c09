UPDATE claim SET state = given.state
  FROM unnest($1::bigint[], $2::text[]) AS given (id, state)
 WHERE claim.id = ANY ($1) AND claim.id = given.id AND claim.state = 'waiting'
