"""A server whose place another one took: nothing is read from it any more, and slaves are as they were."""

from __future__ import annotations

from collections.abc import Iterator

from sluice import shell
from sluice.errors import SluiceError
from sluice.model.server_identity import ServerIdentity
from sluice.vendors.protocol.sweep import SourceState


def expect_newest(source: str, state: SourceState, logged: str, former: str | None) -> None:
    """See that the change log of a source was not written from a successor of this server.

    Args:
        logged: the incarnation of its last segment.
        former: the incarnation of the server which an upgrade replaced; None if there was none.

    Raises:
        SluiceError: SLC-552, it was.
    """
    # People may have gone back to it, by a rebase.
    if state.incarnation != logged and (state.is_succeeded_by(logged) or state.incarnation == former):
        raise SluiceError(
            552,
            f"the connection of {source} leads to the old server: it is {state.incarnation}, and the log goes on with "
            f"{logged}, which took its place",
            "nothing was read or published, and the slaves are as they were. Let the connection lead to the new "
            "server, and end the old one: what is written to it reaches nobody",
        )


def expect_continued(
    source: str, noted: ServerIdentity, now: ServerIdentity | None, faults: list[str]
) -> ServerIdentity:
    """See that a server goes on from another one, as an upgrade of its data lets it; the server.

    The epoch was written there before the last sweep. So a copy of the old server that has it has all that was
    committed before, of which slaves may have been filled.

    Args:
        now: None, nothing is installed on it.
        faults: what else speaks against it, in sentences.

    Raises:
        SluiceError: SLC-962, it does not.
    """
    differences = [*_differences(noted, now), *faults] if now else ["Sluice is not installed on it"]
    if now is None or differences:
        raise SluiceError(
            962,
            f"the server that the connection of {source} leads to does not go on from the one that was to be upgraded: "
            f"{'; '.join(differences)}",
            "nothing was changed, and the slaves are as they were. Let the connection lead to the right server and "
            "trigger the DAG again. If there is none, accept this one, and fill all slaves: "
            f"{shell.trigger('bootstrap', source=source, rebase=True)}",
        )
    return now


def expect_copy(source: str, noted: ServerIdentity, now: ServerIdentity) -> None:
    """See that what was installed on a server may be dropped, since it was copied from another one, or made by an
    earlier try.

    Raises:
        SluiceError: SLC-962, it is that server itself, or goes on with its data; another source is captured there.
    """
    if now.installation != noted.installation and (now.segment, now.sha256) not in (
        (0, ""),
        (noted.segment, noted.sha256),
    ):
        raise SluiceError(
            962,
            f"the server that the connection of {source} leads to is no logical copy: another source is captured there",
            "nothing was changed. Let the connection lead to the copy, and type: "
            f"{shell.trigger('upgrade_master', source=source, step='after_copy')}",
        )
    if now.incarnation == noted.incarnation or not [*_differences(noted, now)]:
        raise SluiceError(
            962,
            f"the server that the connection of {source} leads to is no logical copy: it has the transactions of the "
            "one that was to be upgraded",
            "nothing was changed. Let the connection lead to the copy; or trigger the DAG with the step `after`",
        )


def _differences(noted: ServerIdentity, now: ServerIdentity) -> Iterator[str]:
    if now.installation != noted.installation:
        yield "Sluice was installed on it anew"
    elif now.epoch < noted.epoch:
        yield "its data is of an earlier moment"
    elif now.epoch > noted.epoch:
        yield "a publisher was at work on it since"
    if (now.segment, now.sha256) != (noted.segment, noted.sha256):
        yield f"it purged segment {now.segment} last, and the old one segment {noted.segment} of the change log"
    if now.place != noted.place:
        yield "its rows were written there anew, as by a dump or a subscription"
    if now.next_transaction < noted.next_transaction:
        yield f"its transaction ids are set back to {now.next_transaction}, from {noted.next_transaction}"
    if now.last_key < noted.last_key:
        yield f"its REPL_KEY is set back to {now.last_key}, from {noted.last_key}"
