-- A table that was dropped after its last column stopped every table of the source. The bootstrap that follows makes the
-- functions anew.
SELECT version FROM {state}
