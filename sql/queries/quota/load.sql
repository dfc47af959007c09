SELECT of_whom, name, open_trials, plan_nodes, stored_bytes, device_time
  FROM quota
