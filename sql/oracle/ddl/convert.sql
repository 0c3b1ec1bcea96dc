-- Values of columns that go into those that take their place. If it is interrupted before the command, which commits both, it is done
-- again. Manual: PL/SQL Language Reference, "EXECUTE IMMEDIATE Statement"; SQL Language Reference, "UPDATE".
BEGIN
    UPDATE {table} SET {assigned};
    EXECUTE IMMEDIATE {statement};
END;
