UPDATE study SET closing = true
  FROM unnest($1::bigint[]) AS given (id)
 WHERE study.id = ANY ($1) AND study.id = given.id AND study.finished_at IS NULL
