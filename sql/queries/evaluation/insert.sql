-- Those that are not there yet.
INSERT INTO evaluation (identity)
SELECT given.identity
  FROM unnest($1::text[]) AS given (identity)
 WHERE NOT EXISTS (SELECT FROM evaluation WHERE evaluation.identity = given.identity)
