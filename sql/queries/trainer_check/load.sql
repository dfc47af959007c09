SELECT trainer, device_kind, outcome, message, (date_part('epoch', found_at) * 1000000)::bigint AS found_at
  FROM trainer_check
