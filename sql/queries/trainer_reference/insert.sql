INSERT INTO trainer_reference (digest, entry, archive, python, client_python, machine, uid, folder, data, data_seen,
       environment, user_name, team)
SELECT digest, entry, archive, python, client_python, machine, uid, folder, data::text[], data_seen,
       environment::text[], user_name, team
  FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
              $9::text[], $10::text[], $11::text[], $12::text[], $13::text[])
       AS given (digest, entry, archive, python, client_python, machine, uid, folder, data, data_seen, environment,
                 user_name, team)
