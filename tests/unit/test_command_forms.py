"""How messages word the commands that a person is to type, by where they are read."""

from __future__ import annotations

import json
import shlex

import pytest

from sluice import shell
from sluice.model.names import Pair

ZURICH = Pair("flights", "zurich")
COMPOSE = "docker compose exec airflow-scheduler ./sluice"


@pytest.mark.parametrize(
    ("command", "ours", "theirs"),
    [
        (
            lambda: shell.unpause(ZURICH),
            "unpause flights zurich",
            "airflow dags unpause acme_drain__flights__zurich",
        ),
        (
            lambda: shell.unpause_publish("flights"),
            "unpause flights --publish",
            "airflow dags unpause acme_publish__flights",
        ),
        (
            lambda: shell.update("flights", ["zurich", "geneva"], resume=True),
            "trigger initial_update source=flights slaves=zurich,geneva resume=true",
            "airflow dags trigger acme_initial_update --conf "
            """'{"source": "flights", "slaves": ["zurich", "geneva"], "resume": true}'""",
        ),
        (lambda: shell.connect("shop"), "connect shop", "./sluice connect shop"),
        (shell.status, "status", "./sluice status"),
        (
            lambda: shell.dispatcher(ZURICH, "--skip", "public.odd name"),
            "dispatcher flights zurich --skip 'public.odd name'",
            "./sluice dispatcher flights zurich --skip 'public.odd name'",
        ),
    ],
    ids=["unpause", "unpause publish", "trigger", "connect", "status", "dispatcher"],
)
def test_a_command_can_be_pasted_where_it_is_read(command, ours, theirs, monkeypatch):
    monkeypatch.setenv(shell.DAG_PREFIX_ENV, "acme_")
    monkeypatch.delenv(shell.CLI_ENV, raising=False)
    assert command() == theirs
    for form in (shell.CLI, COMPOSE):
        monkeypatch.setenv(shell.CLI_ENV, form)
        assert command() == f"{form} {ours}"


def test_a_shell_gives_the_choices_of_a_form_back_whatever_is_in_them(monkeypatch):
    ranges = ["public.legs: 2013, 'UA' .. 2013, 'WN'"]
    monkeypatch.delenv(shell.CLI_ENV, raising=False)
    assert json.loads(shlex.split(shell.trigger("initial_update", key_ranges=ranges))[-1]) == {"key_ranges": ranges}
    monkeypatch.setenv(shell.CLI_ENV, shell.CLI)
    assert shlex.split(shell.trigger("initial_update", key_ranges=ranges))[-1] == f"key_ranges={json.dumps(ranges)}"
