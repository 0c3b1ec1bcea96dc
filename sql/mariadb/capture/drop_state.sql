DROP TABLE {state}
