SELECT id, study_id, plan_id, leaf_id, horizon_steps, closed, cancelled FROM trial ORDER BY id
