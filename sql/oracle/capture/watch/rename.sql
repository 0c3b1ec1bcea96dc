-- At once: no change is missed in between, and none is noted twice. Manual: PL/SQL Language Reference, "ALTER TRIGGER Statement".
ALTER TRIGGER {trigger} RENAME TO {becomes}
