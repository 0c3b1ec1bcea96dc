-- Every row as a text in the order of its key, which an index gives without sorting. Two sides that sort texts
-- differently give different orders; then the rows are compared as `rows` gives them.
COPY (
    SELECT ROW({columns})::text
    FROM {rows}
    WHERE ({within}) AND ({all} OR abs(hashtextextended(ROW({key})::text COLLATE "C", {seed}::bigint) % {of}) < {parts})
    ORDER BY {key}
) TO STDOUT
