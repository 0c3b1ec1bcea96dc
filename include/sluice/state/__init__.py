"""State machines as tables of transitions. Pure."""
