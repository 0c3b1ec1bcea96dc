INSERT INTO {settings} (detection, initial_content, trusted_code, by_log, max_row_bytes)
VALUES (%(detection)s, %(initial_content)s, %(trusted_code)s, %(by_log)s, %(max_row_bytes)s)
ON CONFLICT (only_row) DO UPDATE
SET detection = EXCLUDED.detection, initial_content = EXCLUDED.initial_content, trusted_code = EXCLUDED.trusted_code,
    by_log = EXCLUDED.by_log, max_row_bytes = EXCLUDED.max_row_bytes
