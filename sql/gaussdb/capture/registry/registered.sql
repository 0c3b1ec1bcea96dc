SELECT schemaname, tablename, actions, relid::bigint, layout, described, identity FROM {tables} ORDER BY schemaname, tablename
