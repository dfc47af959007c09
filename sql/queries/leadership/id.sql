SELECT id FROM leadership
