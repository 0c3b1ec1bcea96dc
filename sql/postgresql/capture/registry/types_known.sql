-- What types are made of was not recorded by an older version: it is from here on.
UPDATE {current_tables} SET types = {types_reached}(relid::oid)
