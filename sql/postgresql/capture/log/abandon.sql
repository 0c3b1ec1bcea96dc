-- Nobody publishes what the slot still has.
UPDATE {log} SET phase = 'over'
