-- A table that the configuration names, and that is not there, was an error of all others, and is listed in the registry. The
-- bootstrap that follows makes the functions anew, and lists them.
SELECT version FROM {state}
