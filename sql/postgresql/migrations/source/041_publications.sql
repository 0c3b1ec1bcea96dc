-- A publication that others altered kept changes out of the server's log, and nobody saw it. The bootstrap that follows makes the
-- functions anew.
SELECT version FROM {state}
