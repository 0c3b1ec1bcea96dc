"""Commands of the shell, with connections as a job gets them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sluice import shell
from sluice.capture.grants import grants, slave_grants
from sluice.cli.context import context as _context
from sluice.cli.context import from_airflow as _from_airflow
from sluice.cli.context import read_configuration
from sluice.commands import export as exporting
from sluice.commands import retry_rejected, unblock
from sluice.config import configuration_text
from sluice.connections import key_file
from sluice.initial_update import column_losses
from sluice.initial_update.cancel import cancel
from sluice.model.action import COMMANDS, Action
from sluice.model.names import Pair
from sluice.monitor import several_machines, status
from sluice.outside_text import in_one_line, say, say_script
from sluice.runtime.up import find_running
from sluice.state.ddl_question import Decision
from sluice.statements import issue
from sluice.store import allowed_losses, rejected_changes, replications, statement_results


def show_check() -> int:
    """Print what was found of everything the configuration names. 0 if nothing is wrong."""
    # Imports Arrow's functions and pandas, which no other command needs.
    from sluice.monitor import check

    if runtime := find_running():
        runtime.expect_configuration()
    settings = read_configuration()
    say(f"ok   configuration {configuration_text.place()}")
    if runtime is None and not (key := key_file()).exists():
        say(check.line(check.Finding("sealing key", False, f"there is none at {key}\ntype: {shell.sluice('init')}")))
        return 1
    context = _from_airflow(settings)
    results = list(check.findings(context))
    for result in results:
        say(check.line(result))
    wrong = sum(not result.good for result in results)
    if wrong:
        say(f"{wrong} of {len(results)} are wrong: fix them from the top, then run {shell.check()} again.")
        say(f"What was captured waits meanwhile. {shell.status()} says how the slaves stand.")
    elif not context.store.has_tables:
        say("Nothing is wrong. To fill the slaves, type:")
        for command in check.first_steps(context):
            say(f"  {command}")
    return 1 if wrong else 0


def show_deployment() -> int:
    """Print what several machines need, as far as this one can tell. 0 if nothing is wrong here."""
    rows = list(several_machines.needs(_context()))
    say(several_machines.as_table(rows))
    return 1 if any(row.good is False for row in rows) else 0


def export(source: str, first: int | None, last: int | None, form: str, to: Path | None) -> int:
    """Write a range of a change log as messages."""
    count = exporting.export(_context(), source, first, last, form, to)
    say(f"exported {count} transactions of {source}", file=sys.stderr)
    return 0


def issue_statement(source: str, text: str, patience_s: float, **choices: Any) -> int:
    """Execute a statement everywhere and print what each node answered. 0 unless it failed on one of them.

    Args:
        choices: those of `issue.issue`.
    """
    context = _context()
    done = issue.issue(context, source, text, **choices)
    return _answers(source, done.id, issue.await_answers(context, done.id, patience_s))


def show_statement(source: str, number: int, patience_s: float) -> int:
    """Print what each node answered to a statement that was issued before. 0 unless it failed on one of them."""
    return _answers(source, number, issue.show(_context(), source, number, patience_s))


def _answers(source: str, number: int, answers: Sequence[statement_results.NodeAnswer]) -> int:
    say(f"statement {number}")
    for answer in answers:
        say("  ".join(filter(None, [answer.slave or f"{source} (master)", answer.status, answer.detail])))
        if answer.answer.columns and answer.status is not statement_results.StatementStatus.WAITING:
            for row in (answer.answer.columns, *answer.answer.rows):
                say("\t".join("NULL" if value is None else value for value in row))
        if (
            not answer.detail
            and answer.status is statement_results.StatementStatus.OK
            and (answer.answer.count or not answer.answer.columns)
        ):
            say(f"{answer.answer.count} rows changed")
    return 1 if any(answer.status is statement_results.StatementStatus.FAILED for answer in answers) else 0


def show_rejected(source: str, slave: str, numbers: Sequence[int]) -> int:
    """Print changes that a slave did not carry out, with their values. 0 if there is none."""
    context = _context()
    context.config.replication(source, slave)
    changes = [
        kept
        for kept in rejected_changes.list_changes(context.store, Pair(source, slave))
        if kept.id in numbers or not numbers
    ]
    for kept in changes:
        change = kept.change
        table = change.layout.name if change.layout else "no table"
        why = (
            change.conflict
            or f"{Action(change.action).name}, removed{' as the master wrote it' if change.unseen else ''}"
        )
        say(in_one_line(f"{kept.id}  {kept.at:%Y-%m-%d %H:%M:%S}  transaction {change.ordinal}  {table}  {why}"))
        if change.action in COMMANDS:
            say(f"  {''.join(filter(None, change.new or ()))}")
            continue
        for sign, image in (("-", change.old), ("+", change.new)):
            if image is not None and change.layout:
                names = (column.name for column in change.layout.columns)
                pairs = zip(names, image, strict=True)
                shown = (f"{name}={'NULL' if value is None else value}" for name, value in pairs)
                say(f"  {sign} {'  '.join(shown)}")
    return 1 if changes else 0


def show_dispatcher(source: str, slave: str) -> int:
    """Print what keeps a slave from going on, and what it goes on without. 0 if there is neither."""
    (state,) = status.statuses(_context(), Pair(source, slave))
    say(f"slave {slave} of {source}: {state.status}, {state.dispatcher}, at {state.position}")
    for note in filter(None, [state.why, state.publishing, *state.lacking]):
        say(note)
    return 0 if state.well else 1


def remove_first(source: str, slave: str, ordinal: int) -> int:
    """Move a slave past the transaction that it stands in front of."""
    count = unblock.remove_first(_context(), pair := Pair(source, slave), ordinal)
    say(f"removed transaction {ordinal}: {count} changes are kept, see {shell.rejected_changes(pair)}")
    say(f"To go on, type: {shell.unpause(pair)}")
    return 0


def skip(source: str, slave: str, table: str) -> int:
    """Leave a table of the master out for a slave."""
    name = unblock.skip(_context(), pair := Pair(source, slave), table)
    say(f"{name} is left out for {slave} until it is filled anew: {shell.update(source, [slave])}")
    say(f"To go on, type: {shell.unpause(pair)}")
    return 0


def decide(source: str, slave: str, key: int, decision: Decision) -> int:
    """Say what becomes of a command of the master that a slave waits in front of."""
    about = unblock.decide(_context(), pair := Pair(source, slave), key, decision)
    say(f"{decision}: {about}")
    say(f"If its drain was paused by that, type: {shell.unpause(pair)}")
    return 0


def show_losses(source: str, slave: str) -> int:
    """Print the column losses of a slave. Returns 0 if none needs a decision."""
    context, pair = _context(), Pair(source, slave)
    context.config.replication(source, slave)
    losses, known = column_losses.find_losses(context, pair), allowed_losses.allowed_casts(context.store, pair)
    left = [loss for loss in losses if not allowed_losses.is_allowed(loss, known)]
    for loss in losses:
        asked = "nobody allowed it" if loss.cast else "nobody can allow it: alter the table"
        say(in_one_line(f"{loss}: {asked if loss in left else 'allowed'}"))
    if any(loss.cast for loss in left):
        say(f"To have numbers rounded, texts cut, and parts of values dropped, type: {shell.losses(pair)} --allow")
    return 1 if left else 0


def allow_losses(source: str, slave: str) -> int:
    """Allow what columns of a slave would lose, and print what that is."""
    context, pair = _context(), Pair(source, slave)
    context.config.replication(source, slave)
    shown = column_losses.question(context, pair)
    say(str(shown["report"]), end="")
    done = column_losses.allow(context, pair, str(shown["shown"]), replications.actor())
    say(f"allowed: {done['allowed']} columns. Then type: {shell.update(source, [slave])}")
    return 0


def cancel_updates(source: str, slaves: Sequence[str]) -> int:
    """End initial updates, and print what became of them. 0 if there was one."""
    done = cancel(_context(), source, slaves)
    for slave, standing in done.idle.items():
        say(f"{slave} is {standing}: no initial update of it is under way")
    for run in done.ended:
        say(f"ended {run}")
    for run, why in done.not_ended.items():
        say(f"Airflow did not end {run}: {why}. What it is at ends by itself")
    if done.cancelled:
        say(f"cancelled: {', '.join(done.cancelled)}. To fill what is INCONSISTENT now, type: {done.next}")
    return 0 if done.cancelled else 1


def carry_out_rejected(source: str, slave: str, numbers: Sequence[int]) -> int:
    """Write changes to a slave that it did not carry out."""
    context = _context()
    context.config.replication(source, slave)
    done, put_right = retry_rejected.carry_out(context, Pair(source, slave), numbers)
    say(f"carried out {done} changes; {put_right} rows were put right for it")
    return 0


def drop_rejected(source: str, slave: str, numbers: Sequence[int]) -> int:
    """Forget changes that a slave did not carry out."""
    context = _context()
    context.config.replication(source, slave)
    say(f"dropped {rejected_changes.drop(context.store, Pair(source, slave), numbers)} changes")
    return 0


def show_grants(source: str) -> int:
    """Print the script that gives the role of a source what it needs."""
    say_script(f"{grants(_context(), source).strip()};")
    return 0


def show_slave_grants(slave: str, *, silent: bool) -> int:
    """Print the script that gives the role of a slave what it needs."""
    say_script(f"{slave_grants(_context(), slave, silent=silent).strip()};")
    return 0
