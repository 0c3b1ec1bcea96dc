"""A server whose place another one took: nothing is read from it any more, and slaves are as they were."""

from __future__ import annotations

from sluice.errors import SluiceError
from sluice.vendors.protocol.sweep import SourceState


def expect_newest(source: str, state: SourceState, logged: str) -> None:
    """See that the change log of a source was not written from a successor of this server.

    Args:
        logged: the incarnation of its last segment.

    Raises:
        SluiceError: SLC-552, it was.
    """
    if state.is_succeeded_by(logged):
        raise SluiceError(
            552,
            f"the connection of {source} leads to the old server: it is {state.incarnation}, and the log goes on with "
            f"{logged}, which took its place",
            "nothing was read or published, and the slaves are as they were. Let the connection lead to the new "
            "server, and end the old one: what is written to it reaches nobody",
        )
