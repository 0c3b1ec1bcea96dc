COPY (SELECT {columns} FROM {rows}) TO STDOUT
