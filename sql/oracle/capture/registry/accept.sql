-- A new incarnation. Manual: SQL Language Reference, "UPDATE", "SYS_GUID".
UPDATE {state} SET incarnation = RAWTOHEX(SYS_GUID()), segment = :segment, sha256 = :sha256
