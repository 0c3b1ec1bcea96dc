-- A trigger of ours could be replaced by one that hears less, and a partition whose DROP was spelled unusually stopped every table
-- of the source. The bootstrap that follows makes the functions anew, and the event trigger that did not hear CREATE TRIGGER.
SELECT version FROM {state}
