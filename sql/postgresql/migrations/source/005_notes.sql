-- Notes between the events of a statement were shared by all prefixes: who came first took them from the others. The
-- functions that the bootstrap makes next keep their own.
SELECT version FROM {state}
