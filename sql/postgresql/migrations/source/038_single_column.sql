-- A table of one column stopped its slaves if that column was dropped, and a row was written, before the publisher looked. The
-- bootstrap that follows makes the functions anew.
SELECT version FROM {state}
