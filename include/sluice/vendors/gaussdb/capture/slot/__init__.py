"""Capture by a replication slot: the options of `mppdb_decoding`, and one parser for each of its formats."""
