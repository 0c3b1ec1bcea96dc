INSERT INTO {tables} (schemaname, tablename, actions, relid, layout, described, identity)
VALUES (%(schema)s::text, %(table)s::text, %(actions)s::text, %(relid)s::oid, %(layout)s::bigint, %(described)s::text, %(identity)s::text)
