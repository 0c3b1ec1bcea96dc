-- Before the snapshot: while the sweep lasts nobody gives the queue another file, in which its rows lie elsewhere.
LOCK TABLE {queue} IN ACCESS SHARE MODE
