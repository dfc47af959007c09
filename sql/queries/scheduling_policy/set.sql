INSERT INTO scheduling_policy (name, chosen_by, chosen_at)
SELECT name, chosen_by, chosen_at
  FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS given (name, chosen_by, chosen_at)
ON CONFLICT (only_row) DO UPDATE
   SET name = excluded.name, chosen_by = excluded.chosen_by, chosen_at = excluded.chosen_at
