"""State machines as tables: what may follow what, and who may say so. Pure."""
