CREATE TRIGGER {trigger} AFTER {events} ON {table} FOR EACH ROW EXECUTE FUNCTION {function}()
