UPDATE study SET closing = true
  FROM unnest($1::bigint[]) AS given (id)
 WHERE study.id = given.id AND study.finished_at IS NULL
