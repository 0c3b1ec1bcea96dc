-- What a table is was written down as the session that altered it prints dates, intervals, texts and names, and what somebody
-- changed of an entry of the registry was not looked at. The bootstrap that follows makes functions and triggers anew; what was
-- written down otherwise is found to differ, and sent again.
DROP TRIGGER IF EXISTS sluice_registering_after ON {tables}
