-- All is published that the triggers captured: from here on the slot is read.
UPDATE {log} SET phase = NULL, shown = NULL
WHERE phase = 'queue' AND NOT EXISTS (SELECT FROM {queue} WHERE pg_visible_in_snapshot(trans_key, shown))
