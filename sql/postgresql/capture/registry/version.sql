-- The version of the DbResources; those that know of none are 0.
SELECT coalesce((to_jsonb(state) ->> 'version')::integer, 0) FROM {state} AS state
