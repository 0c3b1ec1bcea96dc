COPY (SELECT {columns} FROM {relation}) TO STDOUT
