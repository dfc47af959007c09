SELECT name, chosen_by, (date_part('epoch', chosen_at) * 1000000)::bigint AS chosen_at
  FROM scheduling_policy
