INSERT INTO study_event_metric (study_id, number, name, value)
SELECT *
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::double precision[])
