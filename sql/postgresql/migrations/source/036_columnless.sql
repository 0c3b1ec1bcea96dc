-- A table whose last column was dropped stopped every table of the source. The bootstrap that follows makes the functions anew.
SELECT version FROM {state}
