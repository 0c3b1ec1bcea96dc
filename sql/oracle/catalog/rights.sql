-- What the user of the session may do, by itself and by its roles. Manual: Database Reference, "SESSION_PRIVS".
SELECT held.privilege FROM session_privs held
