SELECT version FROM {state}
