"""The end of a comparison: well, or with an error that says which slaves and rows differ."""

from __future__ import annotations

from collections.abc import Sequence

from sluice import hints, shell
from sluice.errors import RowsDiffer, SluiceError
from sluice.model.names import Pair, TableName
from sluice.model.row_difference import FIRST_KEYS
from sluice.state.replication import Status
from sluice.verify.difference import Difference


def raise_if_different(
    source: str,
    report: int,
    results: dict[str, dict[str, Difference]],
    refused: dict[str, Status],
    *,
    initial: bool,
    only: Sequence[TableName] = (),
) -> None:
    """Raise RowsDiffer, SLC-090, if a table differs; else SluiceError, SLC-020, if a slave was not compared.

    Args:
        initial: an initial update ends.
        only: the tables that it fills; empty: all.
    """
    diffs = [(f"{table} on {slave}", diff) for slave, tables in results.items() for table, diff in tables.items()]
    odd = [(where, diff) for where, diff in diffs if diff.different]
    if odd:
        counts = [f"{where}: {diff.missing} missing, {diff.extra} extra, {diff.changed} changed" for where, diff in odd]
        # In one line, whatever a key has, so that all of it can be left out (`without_keys`).
        keys = [" ".join(f"{where} {kind} {key}".split()) for where, diff in odd for kind, key in diff.sample[:1]]
        error = RowsDiffer(
            90,
            f"the slaves are not what the master is: {'; '.join(counts)}{FIRST_KEYS if keys else ''}{'; '.join(keys)}",
            _hint(source, results, only, initial=initial),
        )
        error.report = report
        raise error
    if refused:
        states = ", ".join(f"{slave} is {status}" for slave, status in refused.items())
        red = [slave for slave, status in refused.items() if status in {Status.INCONSISTENT, Status.UNCONFIGURED}]
        anew = f"; once that is fixed, type: {shell.update(source, red)}" if red else "; an update is under way"
        raise SluiceError(20, f"not every slave could be verified: {states}", f"`{shell.status()}` says why{anew}")


def _hint(source: str, results: dict[str, dict[str, Difference]], only: Sequence[TableName], *, initial: bool) -> str:
    """The remedies: of rows that the slave computes otherwise, and of all others that differ."""
    odd = [(slave, table, diff) for slave, diffs in results.items() for table, diff in diffs.items() if diff.different]
    slaves = list(dict.fromkeys(slave for slave, _, _ in odd))
    others: dict[Pair, list[str]] = {}
    for slave, table, diff in odd:
        if not diff.computed:
            others.setdefault(Pair(source, slave), []).append(table)
    again = shell.trigger("verify", source=source, slaves=slaves)
    if initial:
        again = shell.update(source, slaves, **({"tables": list(map(str, only))} if only else {}))
    remedies = []
    if computed := sorted({f"{table}.{column}" for _, table, diff in odd for column in diff.computed}):
        remedies.append(hints.by_exclusion(computed, again))
    if others:
        writers = f"find out who else writes to them, then type: {again}"
        remedies.append(writers if initial else hints.by_repair(others))
    return ". ".join(remedies)
