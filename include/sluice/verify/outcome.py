"""The end of a comparison: well, or with an error that says which slaves and rows differ."""

from __future__ import annotations

from sluice import hints, shell
from sluice.errors import RowsDiffer, SluiceError
from sluice.model.names import Pair
from sluice.model.row_difference import FIRST_KEYS
from sluice.state.replication import Status
from sluice.verify.difference import Difference


def raise_if_different(
    source: str, report: int, results: dict[str, dict[str, Difference]], refused: dict[str, Status], *, initial: bool
) -> None:
    """Raise RowsDiffer, SLC-090, if a table differs; else SluiceError, SLC-020, if a slave was not compared."""
    diffs = [(f"{table} on {slave}", diff) for slave, tables in results.items() for table, diff in tables.items()]
    odd = [(where, diff) for where, diff in diffs if diff.different]
    if odd:
        counts = [f"{where}: {diff.missing} missing, {diff.extra} extra, {diff.changed} changed" for where, diff in odd]
        # In one line, whatever a key has, so that all of it can be left out (`without_keys`).
        keys = [" ".join(f"{where} {kind} {key}".split()) for where, diff in odd for kind, key in diff.sample[:1]]
        slaves = [slave for slave, tables in results.items() if any(diff.different for diff in tables.values())]
        anew = f"find out who else writes to them, then type: {shell.update(source, slaves)}"
        error = RowsDiffer(
            90,
            f"the slaves are not what the master is: {'; '.join(counts)}{FIRST_KEYS if keys else ''}{'; '.join(keys)}",
            anew if initial else hints.by_repair([Pair(source, slave) for slave in slaves]),
        )
        error.report = report
        raise error
    if refused:
        states = ", ".join(f"{slave} is {status}" for slave, status in refused.items())
        red = [slave for slave, status in refused.items() if status in {Status.INCONSISTENT, Status.UNCONFIGURED}]
        anew = f"; once that is fixed, type: {shell.update(source, red)}" if red else "; an update is under way"
        raise SluiceError(20, f"not every slave could be verified: {states}", f"`{shell.status()}` says why{anew}")
