-- Lets the source be captured for a control store, if it is captured for the one that was found before.
UPDATE {state} SET store = %(store)s::pg_catalog.uuid
WHERE store::text IS NOT DISTINCT FROM %(holder)s::text
