-- The character set of each collation, and how many bytes a sign of it has at most.
SELECT collations.id, collations.character_set_name, character_sets.maxlen
FROM {collations} AS collations
JOIN information_schema.character_sets AS character_sets USING (character_set_name)
WHERE collations.id IS NOT NULL
