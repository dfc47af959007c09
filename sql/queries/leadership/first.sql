INSERT INTO leadership (epoch, holder, renewed_at) VALUES (0, 'nobody', '-infinity')
ON CONFLICT (only_row) DO NOTHING
