INSERT INTO trainer_check (trainer, device_kind, outcome, message, found_at)
SELECT trainer, device_kind, outcome, message, found_at
  FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
       AS given (trainer, device_kind, outcome, message, found_at)
