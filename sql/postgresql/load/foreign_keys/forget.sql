DELETE FROM {references}
WHERE "schema" = %(schema)s AND "table" = %(table)s AND (%(names)s::text[] IS NULL OR name = ANY (%(names)s::text[]))
