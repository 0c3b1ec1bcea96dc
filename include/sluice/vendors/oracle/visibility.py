"""Which transactions a change number (SCN) shows (R5).

A transaction is in the log as the SCN of the sweep that read it, a slash, and its own id: it had committed at that SCN.
A snapshot is an SCN, and the transactions that were queued then. So it shows what an earlier sweep had read, which may
be purged by then, and of later ones those that were in the queue already. ORA_ROWSCN is never asked: it is an upper
bound, and not supported in a query as of an SCN.

Source: SQL Language Reference, "flashback_query_clause", "ORA_ROWSCN Pseudocolumn"; PL/SQL Packages and Types
Reference, "DBMS_TRANSACTION".
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sluice.model.position import Snapshot

_ID = r"\d+\.\d+\.\d+"
_TEXT = re.compile(rf"(\d{{1,20}}):((?:{_ID}(?:,{_ID})*)?)", re.ASCII)
_TRANSACTION = re.compile(rf"(\d{{1,20}})/({_ID})", re.ASCII)


def transaction(scn: int, id_: str) -> str:
    """A transaction as the log has it, which a sweep as of that SCN has read."""
    return f"{scn}/{id_}"


def id_of(transaction_: str) -> str:
    """The id by which the database knows a transaction of the log. Raises ValueError for what is none."""
    return _taken_apart(transaction_)[1]


def text_of(scn: int, queued: Collection[str]) -> str:
    """The text of a snapshot: an SCN, and the transactions that the queue has as of that."""
    return f"{scn}:{','.join(sorted(queued))}"


@dataclass(frozen=True)
class OracleVisibility:
    """See `sluice.vendors.protocol.visibility.Visibility`."""

    scn: int
    queued: frozenset[str]

    @property
    def age(self) -> tuple[int, ...]:
        """The SCN."""
        return (self.scn,)

    @property
    def since(self) -> str:
        """The SCN."""
        return str(self.scn)

    def sees(self, transaction: str) -> bool:
        """See `Visibility`."""
        scn, id_ = _taken_apart(transaction)
        return scn <= self.scn or id_ in self.queued

    def are_newer(self, transactions: pa.ChunkedArray) -> pa.ChunkedArray:
        """See `Visibility`."""
        # Consecutive changes are mostly of one transaction.
        encoded = transactions.combine_chunks().dictionary_encode()
        known = pa.array([not self.sees(one) for one in encoded.dictionary.to_pylist()], pa.bool_())
        return pa.chunked_array([pc.take(known, encoded.indices)])


def read_snapshot(snapshot: Snapshot) -> OracleVisibility:
    """The transactions that a snapshot shows. Raises ValueError if its text is none of Oracle."""
    found = _TEXT.fullmatch(snapshot.text)
    if found is None:
        raise ValueError(f"{snapshot.text!r} is no snapshot of Oracle")
    return OracleVisibility(int(found[1]), frozenset(filter(None, found[2].split(","))))


def _taken_apart(transaction_: str) -> tuple[int, str]:
    found = _TRANSACTION.fullmatch(transaction_)
    if found is None:
        raise ValueError(f"{transaction_!r} is no transaction of Oracle")
    return int(found[1]), found[2]
