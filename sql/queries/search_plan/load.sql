SELECT id, training, device_kind, scope, team, study_id, trial_id FROM search_plan ORDER BY id
