-- Which control store the source is captured for; none if an older version made what is there.
SELECT pg_catalog.to_jsonb(state) ->> 'store' FROM {state} AS state
