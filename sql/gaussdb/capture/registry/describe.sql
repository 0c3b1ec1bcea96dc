UPDATE {tables} SET described = %(described)s::text WHERE relid = %(relid)s::oid
