-- Before a row of {tables} is locked: a session with DDL of an application changes segments first, and may mark its table as LOST
-- after that. In the other order each would wait for the other (ORA-00060). Manual: SQL Language Reference, "LOCK TABLE".
LOCK TABLE {segments} IN EXCLUSIVE MODE WAIT 60
