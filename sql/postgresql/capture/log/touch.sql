-- A new version of a row that nobody but the publisher writes: a server that has it has followed up to here.
UPDATE {state} SET epoch = epoch WHERE epoch = %(epoch)s RETURNING xmin::text, ctid::text, epoch
