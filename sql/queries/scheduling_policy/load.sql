SELECT name, chosen_by, (extract(epoch FROM chosen_at) * 1000000)::bigint AS chosen_at
  FROM scheduling_policy
