INSERT INTO {settings} (detection, initial_content) VALUES (%(detection)s, %(initial_content)s)
ON CONFLICT (only_row) DO UPDATE SET detection = EXCLUDED.detection, initial_content = EXCLUDED.initial_content
