SELECT trainer, device_kind, outcome, message, (extract(epoch FROM found_at) * 1000000)::bigint AS found_at
  FROM trainer_check
