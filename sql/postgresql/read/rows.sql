COPY (SELECT {columns} FROM {rows} WHERE {within}) TO STDOUT
