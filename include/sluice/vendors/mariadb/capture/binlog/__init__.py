"""Capture by the binary log: row events of whole transactions, in the order of their commits."""
