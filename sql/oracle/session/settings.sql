-- Manual: Database Reference, "NLS_SESSION_PARAMETERS"; SQL Language Reference, "SESSIONTIMEZONE".
SELECT parameter, value FROM nls_session_parameters UNION ALL SELECT 'TIME_ZONE', SESSIONTIMEZONE FROM dual
