-- After an UPDATE of a table with rules, which cannot stand in a WITH: the whole image of a row that was missing.
INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE
SELECT {values} WHERE NOT EXISTS (SELECT FROM {rows} AS target WHERE {same})
