"""Errors of statements that are issued on every node, in the words that all vendors use."""

from __future__ import annotations

from collections.abc import Sequence

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
        "the slave waits in front of it: fix what is in its way there, or leave it behind by initial_update",
    )


def fails(fact: str) -> SluiceError:
    """A statement that fails on the master, and is rolled back."""
    return SluiceError(105, fact, "fix the statement; nothing was changed on any node")


def others_write(table: str) -> SluiceError:
    """A table of a statement on the master has writers that do not end."""
    return SluiceError(
        107, f"others write to {table}, which the statement names", "nothing was changed on any node; try again"
    )


def acts_beside(acting: Sequence[str]) -> SluiceError:
    """A portable statement beside which something else acts on the master."""
    return SluiceError(
        578,
        "the statement would do more on the master, or other things, than on a node of another kind: "
        f"{'; '.join(acting)}",
        "nothing was changed; change the rows without a statement (their changes travel), or set `statements: false` "
        "for the replications into nodes of other kinds and do the same there by hand",
    )
