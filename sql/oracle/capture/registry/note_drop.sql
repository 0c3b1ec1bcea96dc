-- A note in the publisher's own words: columns went, and no trigger noted it. Manual: SQL Language Reference, "INSERT"; PL/SQL Packages
-- and Types Reference, "DBMS_TRANSACTION".
BEGIN
    INSERT INTO {items} (repl_key, trans_key, tablename, db_action, db_schema, content, relid)
    VALUES ({seq}.NEXTVAL, DBMS_TRANSACTION.LOCAL_TRANSACTION_ID(TRUE), :name, 'ALTER', :schema, {definition}(:relation), :relation);
END;
