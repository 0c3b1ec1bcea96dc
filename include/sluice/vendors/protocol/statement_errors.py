"""Errors of statements that are issued on every node, in the words that all vendors use."""

from __future__ import annotations

from sluice.errors import SluiceError


def unmapped(why: str) -> SluiceError:
    """A statement that a slave which calls things otherwise, or has others, cannot be given."""
    return SluiceError(
        103,
        f"the statement cannot be put under the names of a slave that calls things otherwise: {why}",
        "write it with plain `schema.table` names, or set `statements: false` for that replication and do it there",
    )


def stops(fact: str) -> SluiceError:
    """A statement that fails on a slave, after the master has executed it."""
    return SluiceError(
        104,
        fact,
        "the slave waits in front of it: mend what is in its way there, or leave it behind by initial_update",
    )
