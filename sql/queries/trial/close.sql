UPDATE trial SET closed = true, cancelled = given.cancelled
  FROM unnest($1::bigint[], $2::boolean[]) AS given (id, cancelled)
 WHERE trial.id = ANY ($1) AND trial.id = given.id AND NOT trial.closed
