SELECT study_id, name, type FROM study_hyper_parameter
