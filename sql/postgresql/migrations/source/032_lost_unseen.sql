-- A change whose images are too long for the server failed the application's statement, and a mistaken DELETE took changes out of
-- the queue. The bootstrap that follows makes the functions anew, and the guard.
SELECT version FROM {state}
