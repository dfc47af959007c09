INSERT INTO study_speed (study_id, slots, speed)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::double precision[])
