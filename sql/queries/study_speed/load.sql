SELECT study_id, slots, speed FROM study_speed
