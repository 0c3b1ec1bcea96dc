-- Whether a standby tells its master which old rows it needs, and the slot of the master by which it reads the log.
SELECT current_setting('hot_standby_feedback')::boolean, current_setting('primary_slot_name', true)
