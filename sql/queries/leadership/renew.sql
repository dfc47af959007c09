UPDATE leadership SET renewed_at = clock_timestamp() WHERE epoch = $1
