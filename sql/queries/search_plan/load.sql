SELECT id, training, device_kind, scope FROM search_plan ORDER BY id
