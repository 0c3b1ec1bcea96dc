-- Notes between events were settings, which any session could make. The bootstrap that follows makes a table for them.
SELECT version FROM {state}
