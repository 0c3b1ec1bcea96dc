-- A key that is below every key that the statement's own changes will draw.
SELECT nextval({seq_name}::regclass)
