-- Notes that rows of every partition that goes from here on are known to the session that drops it; or, where that is over, of none.
SELECT {note}('dropping'::text, (CASE WHEN %(begins)s THEN ARRAY(SELECT pg_catalog.unnest(partitions) FROM {current_tables})
                               ELSE '{{ }}' END)::oid[])
