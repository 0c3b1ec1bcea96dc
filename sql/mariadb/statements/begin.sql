-- First of its transaction: the rows that follow are the statement's.
INSERT INTO {records} (id, content) VALUES (%(id)s, '')
