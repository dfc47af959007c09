SELECT study_id FROM trial WHERE id = $1
