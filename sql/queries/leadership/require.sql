-- As lock, but divides by zero, and so fails, when another master leads.
SELECT 1 / count(*) FROM (SELECT FROM leadership WHERE epoch = $1 FOR KEY SHARE) AS held
