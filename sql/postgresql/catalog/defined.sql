-- What one table is.
SELECT known.definition FROM ({definition}) AS known WHERE known.relid = %(relation)s::regclass
