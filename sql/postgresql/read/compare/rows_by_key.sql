-- Every row as a text in the order of its key, which an index gives without sorting. Two sides that sort texts
-- differently give different orders; then the rows are compared as `rows` gives them.
COPY (
    SELECT ROW({columns})::text
    FROM {rows}
    WHERE {sample} OR abs(hashtext(ROW({key})::text)::bigint) % 100 < {percent}
    ORDER BY {key}
) TO STDOUT
