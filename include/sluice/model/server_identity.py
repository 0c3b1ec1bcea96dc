"""A source's server at one moment, by which the server that goes on with its data is told from any other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerIdentity:
    """The one row that a source keeps of its publisher, and the server that has it (R2).

    Attributes:
        incarnation: which source this is, as segments of the change log have it.
        segment, sha256: the segment that was purged last.
        epoch: of the publisher that took over last.
        installation: of Sluice on it; a copy of its data has the same.
        next_transaction: no transaction has this id yet, or a higher one.
        last_key: the last REPL_KEY that was drawn.
        place: of the row in the server's files, by the id of a table, and the transaction that wrote it.
        version: of the server, as it calls itself.
    """

    incarnation: str
    segment: int
    sha256: str
    epoch: int = 0
    installation: str = ""
    next_transaction: int = 0
    last_key: int = 0
    place: str = ""
    version: str = ""
