COPY (SELECT {columns} FROM ONLY {relation} WHERE ctid >= {low}::tid AND ctid < {high}::tid) TO STDOUT (FORMAT {format})
