-- Whether the DbResources' schema is there, whether they are in it, and whether those of an older version are in `public`.
SELECT to_regnamespace(quote_ident({schema_name})) IS NOT NULL, to_regclass({state_name}) IS NOT NULL,
       to_regclass({public_state_name}) IS NOT NULL
