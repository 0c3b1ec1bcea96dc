-- Whoever changes a row writes another version of it, which bears the number of his transaction.
SELECT {version}, {columns} FROM {rows} WHERE {within} {held}
