DROP TRIGGER IF EXISTS {trigger} ON {relation}
