-- The table is watched from here on: its CREATE, for those who follow already.
SELECT {command}('N', %(relation)s, NULL, {table_definition}(%(relation)s), NULL)
