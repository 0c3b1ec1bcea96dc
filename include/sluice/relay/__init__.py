"""The relay: a TCP server that gives its clients the changes of certain tables, out of the change logs."""
