-- That a key which a deleted row had is another's by now was told by a setting of triggers alone. The bootstrap that follows has
-- trigger functions made anew that look who bears it.
DROP FUNCTION IF EXISTS {capture_late}(oid)
