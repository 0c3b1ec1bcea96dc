-- Until the transaction ends nobody alters the table. A slave may stand at a point meanwhile: nobody is waited for long.
SET STATEMENT lock_wait_timeout = 3 FOR SELECT 1 FROM {table} LIMIT 0
