"""The DbResources and the triggers of a master."""
