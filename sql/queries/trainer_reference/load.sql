SELECT entry, archive, python, client_python, machine, uid, folder, data, data_seen, environment, user_name, team
  FROM trainer_reference
