CREATE EVENT TRIGGER {event_trigger} ON {event} {tags} EXECUTE FUNCTION {function}()
