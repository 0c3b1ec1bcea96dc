-- All is published that the slot has to say. What came out of it is taken out of the queue, which is read from here on.
WITH ended AS (
    UPDATE {log} SET phase = 'over' WHERE phase = 'slot' RETURNING shown
)
DELETE FROM {queue} AS change USING ended WHERE pg_visible_in_snapshot(change.trans_key, ended.shown)
