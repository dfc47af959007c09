INSERT INTO leadership (epoch, holder, renewed_at, id) VALUES (0, 'nobody', '-infinity', 0)
ON CONFLICT (only_row) DO NOTHING
