-- A slave that is a master, too, has one more table of Sluice's own. The bootstrap that follows leaves it out of wildcards.
SELECT version FROM {state}
