"""Rules of direction: which side's row wins a repair where both databases are masters of each other."""

# The names of rules, as people choose them, with what each means.
RULES = {
    "source": "the source's row wins",
    "slave": "the slave's row wins, and goes to the source's database",
    "newest": "of two rows the one with the larger value of a column wins",
    "plugin": "code of the configuration says for each row which side wins",
}
