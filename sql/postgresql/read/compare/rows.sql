-- Every row as a text beside its key's, in an order that no collation of either side can disturb. A table without a key
-- is its own key.
COPY (
    SELECT key, image
    FROM (SELECT ROW({key})::text AS key, ROW({columns})::text AS image FROM {rows} WHERE {within}) AS rows
    WHERE {all} OR abs(hashtextextended(key COLLATE "C", {seed}::bigint) % {of}) < {parts}
    ORDER BY key COLLATE "C", image COLLATE "C"
) TO STDOUT
