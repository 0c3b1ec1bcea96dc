-- Whether somebody publishes the queue, perhaps with all tables, to a subscriber who cannot be told what a purge deletes.
SELECT EXISTS (
    SELECT FROM pg_class AS class
    JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    JOIN pg_publication_tables AS published
        ON published.schemaname = namespace.nspname AND published.tablename = class.relname
    JOIN pg_publication AS publication ON publication.pubname = published.pubname AND publication.pubdelete
    WHERE class.oid = {queue_name}::regclass AND class.relreplident = 'd'
      AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = class.oid AND indisprimary))
