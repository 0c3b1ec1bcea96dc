-- Whether the user may take more room in any table space. Manual: Database Reference, "USER_TS_QUOTAS" (-1 has no bound).
SELECT 1 FROM session_privs held WHERE held.privilege = 'UNLIMITED TABLESPACE'
UNION ALL
SELECT 1 FROM user_ts_quotas allowed WHERE allowed.max_bytes = -1 OR allowed.bytes < allowed.max_bytes
