-- The tables of which some rows are still to come in blocks, as the master calls them.
SELECT DISTINCT "schema", "table" FROM {ranges} WHERE source = %(source)s AND slave = %(slave)s AND NOT ended
