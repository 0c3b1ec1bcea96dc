-- Whether somebody publishes the queue, perhaps with all tables, to a subscriber who cannot be told what a purge deletes.
-- By the catalog itself: the view of published tables would wait for a lock on any of them.
SELECT EXISTS (
    SELECT FROM pg_class AS class
    JOIN pg_publication AS publication ON publication.pubdelete
    WHERE class.oid = {queue_name}::regclass AND class.relreplident = 'd'
      AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = class.oid AND indisprimary)
      AND (publication.puballtables
           OR EXISTS (SELECT FROM pg_publication_rel
                      WHERE prpubid = publication.oid AND prrelid = class.oid)
           OR EXISTS (SELECT FROM pg_publication_namespace
                      WHERE pnpubid = publication.oid AND pnnspid = class.relnamespace)))
