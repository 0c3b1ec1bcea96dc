-- Whether a function (`function`, of the schema `namespace`) is one of the server's own that runs no code of others and sets
-- nothing. What came with the server has a number below this. Others cannot make anything there.
function.oid < 16384 AND namespace.nspname = 'pg_catalog' AND (
    function.provolatile = 'i'
    OR function.provolatile = 's' AND (
        EXISTS (SELECT FROM pg_operator WHERE oprcode = function.oid AND pg_operator.oid < 16384)
        OR EXISTS (SELECT FROM pg_cast WHERE castfunc = function.oid AND pg_cast.oid < 16384))
    OR function.proname = ANY (ARRAY[
        -- moments
        'now', 'transaction_timestamp', 'statement_timestamp', 'clock_timestamp', 'timeofday', 'age', 'date_add',
        'date_part', 'date_subtract', 'date_trunc', 'extract', 'make_timestamptz', 'overlaps', 'timezone', 'to_char',
        'to_date', 'to_number', 'to_timestamp',
        -- identifiers and chance
        'gen_random_uuid', 'uuidv4', 'uuidv7', 'random', 'random_normal',
        -- who writes, and where
        'current_database', 'current_schema', 'current_setting', 'current_user', 'session_user', 'inet_client_addr',
        'inet_client_port', 'pg_backend_pid', 'version',
        -- texts, arrays, JSON
        'array_to_json', 'array_to_string', 'concat', 'concat_ws', 'format', 'json_build_array', 'json_build_object',
        'jsonb_build_array', 'jsonb_build_object', 'jsonb_path_exists_tz', 'jsonb_path_match_tz', 'length', 'pg_typeof',
        'quote_literal', 'quote_nullable', 'row_to_json', 'to_json', 'to_jsonb', 'xml_is_well_formed',
        'enum_first', 'enum_last', 'enum_range',
        -- words
        'get_current_ts_config', 'json_to_tsvector', 'jsonb_to_tsvector', 'phraseto_tsquery', 'plainto_tsquery',
        'to_tsquery', 'to_tsvector', 'websearch_to_tsquery']))
