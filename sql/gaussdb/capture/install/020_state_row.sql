INSERT INTO {state} (only_row, version, incarnation, segment, sha256, epoch, lsn, ahead)
SELECT true, {version}::integer, {incarnation}::text, 0, '', 0, 0, ''
WHERE NOT EXISTS (SELECT 1 FROM {state})
