-- A partition with a deferrable constraint for itself drew no last key at a commit. The bootstrap that follows lets it.
SELECT version FROM {state}
