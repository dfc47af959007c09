SELECT study_id, number, name, value FROM study_event_metric
