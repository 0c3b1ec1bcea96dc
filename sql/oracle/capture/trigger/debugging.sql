        {debug}('statement on ' || {table_name} || ' by transaction ' || DBMS_TRANSACTION.LOCAL_TRANSACTION_ID(TRUE));
