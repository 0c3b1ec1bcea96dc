"""A terminal shows names of others letter by letter: they cannot clear it, name it, or rearrange a line."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from sluice import outside_text
from sluice.cli import airflow_commands, cleanup_commands, commands, replication_commands
from sluice.cli.parser import main
from sluice.commands.leftovers import LeftoverPlace
from sluice.initial_update.cancel import Cancelled
from sluice.model.leftover import Leftover
from sluice.model.loss import Loss
from sluice.model.names import TableName
from sluice.model.row_conflict import RejectedChange
from sluice.model.statement import Answer
from sluice.monitor.check import Finding
from sluice.monitor.several_machines import Need
from sluice.runtime.terminal import Progress
from sluice.store.rejected_changes import KeptChange
from sluice.store.statement_results import NodeAnswer, StatementStatus

# Gives the window a title, clears the screen, deletes a line, and turns round what follows; in one byte and in two.
NAME = "n\x1b]0;title\x07\x1b[2J\x1b[1A\x9b2K\x08\u202edne\u2066\u200b\rHINT"
SEEN = r"n\x1b]0;title\x07\x1b[2J\x1b[1A\x9b2K\x08\u202edne\u2066\u200b\rHINT"
STATE = SimpleNamespace(status="ABNORMAL", dispatcher="standby", position=NAME, why=NAME, well=False)
LOSS = Loss(TableName(NAME, NAME), NAME, NAME, NAME, "what is longer than 5", NAME)
KEPT = KeptChange(1, datetime.now(UTC), RejectedChange(None, None, "S", 1, 1, [NAME], None))
PLACE = LeftoverPlace(NAME, [Leftover(NAME, f'DROP ROLE "{NAME}"')])
DOOMED = SimpleNamespace(replications=[], segments=1, bytes=1, directories=[SimpleNamespace(url=NAME)])
# By command: what its parts say.
COMMANDS = {
    "check": {
        "sluice.cli.commands.find_running": MagicMock(),
        "sluice.cli.commands.read_configuration": None,
        "sluice.cli.commands._from_airflow": None,
        "sluice.monitor.check.findings": [Finding(NAME, False, NAME)],
    },
    "check --deployment": {"sluice.monitor.several_machines.needs": [Need(NAME, NAME, False, NAME)]},
    "status": {"sluice.monitor.status.statuses": [], "sluice.monitor.status.as_table": NAME},
    "doctor": {
        "sluice.monitor.check.findings": [Finding(NAME, False, NAME)],
        "sluice.monitor.status.statuses": [],
        "sluice.monitor.status.as_table": NAME,
    },
    "dispatcher s z": {"sluice.monitor.status.statuses": [STATE]},
    "dispatcher s z --skip t": {"sluice.commands.unblock.skip": NAME},
    "dispatcher s z --approve 1": {"sluice.commands.unblock.decide": NAME},
    "statement s --show 1": {
        "sluice.statements.issue.show": [NodeAnswer("z", StatementStatus.FAILED, NAME, Answer((NAME,), ((NAME,),)))]
    },
    "rejected s z": {"sluice.store.rejected_changes.list_changes": [KEPT]},
    "losses s z": {
        "sluice.initial_update.column_losses.find_losses": [LOSS],
        "sluice.store.allowed_losses.allowed_casts": {},
    },
    "losses s z --allow": {
        "sluice.initial_update.column_losses.question": {"report": NAME, "shown": ""},
        "sluice.initial_update.column_losses.allow": {"allowed": NAME},
    },
    "cancel s z": {"sluice.cli.commands.cancel": Cancelled(ended=[NAME], not_ended={NAME: NAME})},
    "cleanup s": {"sluice.cli.cleanup_commands.cleanup": [NAME]},
    "cleanup s --all": {
        "sluice.commands.remove_source.expect_source_removable": DOOMED,
        "sluice.cli.cleanup_commands.leftovers": [PLACE],
    },
    "cleanup s --all --yes": {
        "sluice.commands.remove_source.remove_source": [NAME],
        "sluice.cli.cleanup_commands.leftovers": [PLACE],
    },
    "remove s z --yes": {"sluice.cli.replication_commands.remove_replication": [NAME]},
    "restart s --yes": {"sluice.cli.replication_commands._restart": [NAME]},
    "unpause s --all": {
        "sluice.commands.dispatcher.switch_source": SimpleNamespace(switched=[], left_alone={NAME: NAME})
    },
    "connect master postgresql://u@h/d --password-env HOME": {
        "sluice.cli.airflow_commands.connection_ids": ["master"],
        "sluice.cli.airflow_commands.secret_ids": [],
        "sluice.cli.airflow_commands._use": ("source s", ("postgres",)),
        "sluice.cli.airflow_commands.replace": None,
        "sluice.monitor.check.check_connection": [Finding(NAME, False, NAME)],
    },
    "repair s z --dry-run": {
        "sluice.cli.repair_command.cli_context": MagicMock(),
        "sluice.store.comparisons.last": 1,
        "sluice.cli.repair_command.plan": [
            SimpleNamespace(
                numbers=[1], statements=lambda: ["-- DELETE"], rows=[1], more=0, report=SimpleNamespace(table=NAME)
            )
        ],
    },
}


@pytest.fixture
def sluice(monkeypatch):
    """Run a command whose parts return these."""

    def run(words, parts):
        for module in (commands, cleanup_commands, replication_commands, airflow_commands):
            monkeypatch.setattr(module, "_context", MagicMock())
        for place in ("sluice.cli.doctor.context", "sluice.cli.status._context"):
            monkeypatch.setattr(place, MagicMock())
        for place, result in parts.items():
            monkeypatch.setattr(place, MagicMock(return_value=result))
        return main(words.split())

    return run


def expect_letters(text):
    assert SEEN in text
    assert [sign for sign in text if not (sign.isprintable() or sign in "\n\t")] == []


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_prints_names_letter_by_letter(words, sluice, capsys):
    sluice(words, COMMANDS[words])
    expect_letters("".join(capsys.readouterr()))


def test_an_error_that_nothing_foresees_prints_its_stack_letter_by_letter(monkeypatch, capsys):
    monkeypatch.setattr(commands, "_context", MagicMock(side_effect=RuntimeError(NAME)))
    assert main(["dispatcher", "s", "z"]) == 1
    expect_letters(capsys.readouterr().err)


def test_progress_is_told_letter_by_letter():
    stream = io.StringIO()
    progress = Progress(stream, heartbeat_s=0.01)
    progress.note(NAME)
    with progress.step(NAME) as step:
        step.update(NAME)
    expect_letters(stream.getvalue())


def test_a_statement_about_a_name_that_hides_something_is_a_comment():
    script = cleanup_commands.as_script([PLACE, replace(PLACE, left=[Leftover("a role", 'DROP ROLE "r"')])])
    assert [line for line in script.splitlines() if not line.startswith("--")] == ['DROP ROLE "r";']


@pytest.mark.parametrize(("is_terminal", "said"), [(True, SEEN), (False, NAME)])
def test_a_script_is_exact_for_a_program_and_visible_on_a_terminal(is_terminal, said, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdout", stream)
    outside_text.say_script(NAME)
    assert stream.getvalue() == f"{said}\n"


def test_a_status_for_programs_is_json_whatever_it_names(capsys):
    from sluice.monitor import status

    row = MagicMock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(status, "asdict", lambda _: {"why": f"{NAME}\x7f"})
        outside_text.say(status.as_json([row]))
    assert json.loads(capsys.readouterr().out) == [{"why": f"{NAME}\x7f"}]
