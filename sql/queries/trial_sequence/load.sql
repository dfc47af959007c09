SELECT trial_id, name, expression FROM trial_sequence
