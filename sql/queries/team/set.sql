INSERT INTO team (name, weight)
SELECT name, weight
  FROM unnest($1::text[], $2::double precision[]) AS given (name, weight)
ON CONFLICT (name) DO UPDATE
   SET weight = excluded.weight
