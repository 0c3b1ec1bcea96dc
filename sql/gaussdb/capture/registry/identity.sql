ALTER TABLE {relation} REPLICA IDENTITY {identity}
