COPY (
    SELECT {columns} FROM ONLY {relation} WHERE ctid >= {low}::tid AND ctid < {high}::tid AND {newer}
) TO STDOUT (FORMAT {format})
