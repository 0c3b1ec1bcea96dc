"""Rules of direction: which side's row wins a repair where both databases are masters of each other."""

# The names of rules, as people choose them, with what each means.
RULES = {
    "source": "the source's row wins",
    "slave": "the slave's row wins, and goes to the source's database",
}
