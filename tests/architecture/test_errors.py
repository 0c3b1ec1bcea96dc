"""Errors for operators: one code has one class, one safety and one remedy; a fact and a hint."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from sluice import error_codes, errors, hints
from sluice.cli import parser
from sluice.errors import FencedError, LogBehind, LogTrimmed, SluiceError, TransientError
from sluice.model.names import Pair
from sluice.state.replication import ReplicationEvent
from sluice.store import replications
from sluice.vendors.postgresql.errors import _STATES

PROJECT = Path(__file__).resolve().parents[2]
PLACES = ("include", "plugins", "dags", "spark_jobs")
ERRORS = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, SluiceError)}
# The most codes that there are. Faults of one class, safety and remedy share a code: the fact tells them apart.
MOST = 200


@dataclass(frozen=True)
class Raised:
    """One place that makes an error."""

    code: int
    kind: str
    fact: str
    hint: str
    place: str


@cache
def raised() -> list[Raised]:
    found = []
    for file in sorted(file for place in PLACES for file in (PROJECT / place).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS):
                continue
            assert len(node.args) >= 2, f"{file}:{node.lineno} has no fact"
            code = node.args[0]
            if isinstance(code, ast.Constant):
                place = f"{file.relative_to(PROJECT)}:{node.lineno}"
                found.append(Raised(code.value, node.func.id, ast.unparse(node.args[1]), _said(node), place))
    return found


def _said(call: ast.Call) -> str:
    """The hint as it is written, or what makes it."""
    given = [*call.args[2:3], *(one.value for one in call.keywords if one.arg == "hint")]
    if not given:
        return ""
    if not isinstance(given[0], ast.Constant | ast.JoinedStr):
        return f"a hint made elsewhere: {ast.unparse(given[0])}"
    worded = ["./sluice"] if "shell." in ast.unparse(given[0]) else []
    return " ".join([*(str(part.value) for part in ast.walk(given[0]) if isinstance(part, ast.Constant)), *worded])


ROWS = {int(one.code[4:]): (one.meaning, one.safe, one.remedy) for one in error_codes.entries().values()}
# What somebody can do: a hint has at least one of these.
TYPED = re.compile(
    r"airflow |then type|ask for |change |"
    r"\./sluice|DAG|initial_update|runbook|again|by itself|next run|report|nothing is to be typed|go on"
    r"|\b(add|alter|choose|create|drop|end|execute|free|give|grant|install|let|look|make|fix|name|pip|point|put|remove"
    r"|run|set|start|take|trigger|unpause|write|DELETE|GRANT|ALTER)\b"
)


def passes(kind: str) -> bool:
    """Whether the run tries such an error again. One that was fenced out is told so, whoever goes on."""
    return issubclass(ERRORS[kind], TransientError) and kind != "FencedError"


def test_errors_are_found():
    assert len(raised()) > 40


def test_there_are_few_codes():
    assert len(ROWS) <= MOST


@pytest.mark.parametrize("word", ["SLC-041", "slc-41", " 41", "041"])
def test_a_code_is_explained_however_it_is_typed(word, capsys):
    assert parser.main(["explain", word]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("SLC-041: the name of a trigger")
    assert "\nSafe: " in shown
    assert "\nTo do: " in shown


@pytest.mark.parametrize("word", ["SLC-999", "x", "", "-1"])
def test_a_code_that_is_none_is_refused(word, capsys):
    assert parser.main(["explain", "--", word]) == 1
    assert "SLC-003" in capsys.readouterr().err


def test_nothing_is_decided_by_the_number_of_an_error():
    """Its class says what it is. The statuses of HTTP that Airflow's API gives are numbers only."""
    core = PROJECT / "include" / "sluice"
    found = [
        f"{file.relative_to(core)}:{node.lineno}"
        for file in core.rglob("*.py")
        if file.relative_to(core).parts[0] != "airflow_api"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare)
        and any(isinstance(one, ast.Attribute) and one.attr == "code" for one in (node.left, *node.comparators))
    ]
    assert found == []


def test_a_code_is_always_or_never_worth_a_retry():
    for code in {one.code for one in raised()}:
        transient = {passes(one.kind) for one in raised() if one.code == code}
        assert len(transient) == 1, f"SLC-{code:03d}"


def test_codes_of_the_driver_are_of_one_kind_wherever_they_are_raised():
    driver = {(code, passes(kind.__name__)) for code, kind, _ in _STATES.values()}
    assert len(driver) == len({code for code, _ in driver})
    ours = {(one.code, passes(one.kind)) for one in raised() if one.code in dict(driver)}
    assert ours <= driver


def test_every_error_has_a_hint_that_says_what_to_do():
    # One that was fenced out has no other hint than the one that its class gives.
    hinted = [one for one in raised() if one.kind != "FencedError"]
    mute = [
        (one.place, one.hint)
        for one in hinted
        if not one.hint.startswith("a hint made elsewhere") and not TYPED.search(one.hint)
    ]
    assert not mute
    assert not [hint for _, _, hint in _STATES.values() if not TYPED.search(hint)]
    assert TYPED.search(FencedError(50, "taken over").hint)
    assert all(TYPED.search(hint) for hint in replications._HINTS.values())
    assert replications._HINTS.keys() == set(ReplicationEvent)


def test_no_error_is_made_without_a_hint():
    with pytest.raises(TypeError):
        SluiceError(2, "a fact")


def test_the_page_of_errors_says_of_each_error_whether_it_is_tried_again():
    kinds = {one.code: one.kind for one in raised()} | {code: kind.__name__ for code, kind, _ in _STATES.values()}
    transient = {code for code, kind in kinds.items() if passes(kind)}
    said = {code for code, (_, safe, _) in ROWS.items() if "tried again" in safe}
    # Nobody but the person at the shell meets these, or the job has ended what it had to do.
    assert transient - said == {108, 109, 916}
    assert said - transient == set()


def test_what_the_page_of_errors_lets_one_unpause_is_what_a_drain_stands_on():
    """An initial update unpauses by itself: no entry that names it alone speaks of unpausing."""
    for code, (_, _, command) in ROWS.items():
        if "unpause" in command and "initial_update" in command and code != 96:
            assert "by itself" in command, f"SLC-{code:03d}"


@pytest.mark.parametrize("code", [42, 52, 70, 31])
def test_an_error_that_a_drain_stands_on_says_in_full_what_to_type(code):
    kind = {42: LogTrimmed, 52: LogBehind}.get(code, SluiceError)
    hint = "make it by initial_update" if code == 70 else "fix it"
    error = kind(code, "a fact", hint)
    hints.for_drain(error, Pair("flights", "zurich"))
    unpauses = "airflow dags unpause drain__flights__zurich" in error.hint
    updates = (
        """airflow dags trigger initial_update --conf '{"source": "flights", "slaves": ["zurich"]}'""" in error.hint
    )
    assert (unpauses, updates) == {42: (False, True), 52: (False, False), 70: (True, True), 31: (True, False)}[code]


# What starts and ends the embedded runtime is typed on its machine alone, and so are the commands that it names.
_OF_THE_MACHINE = {"install", "up", "down", "demo", "test", "bench", "lock"}
_ON_THE_MACHINE = {"runtime", "demo", "bench", "dev"}


def _literals(file: Path) -> Iterator[tuple[int, str]]:
    """Every text of a file that is not a docstring."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    bodies = [node.body for node in ast.walk(tree) if hasattr(node, "body") and isinstance(node.body, list)]
    docs = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def test_one_module_alone_words_commands():
    """They differ from place to place: a literal one is wrong in most of them."""
    (known,) = (action.choices for action in parser.parser()._actions if isinstance(action.choices, dict))
    ours = "|".join(known.keys() - _OF_THE_MACHINE)
    literal = re.compile(rf"\bairflow (dags|connections|pools|tasks|variables)\b|\./sluice ({ours})\b")
    core = PROJECT / "include" / "sluice"
    files = [file for file in core.rglob("*.py") if file.relative_to(core).parts[0] not in _ON_THE_MACHINE]
    found = [
        f"{file.relative_to(PROJECT)}:{line}"
        for file in [*files, *(PROJECT / "plugins").rglob("*.py")]
        if file != core / "shell.py"
        for line, text in _literals(file)
        if literal.search(text)
    ]
    assert not found


def test_no_fact_speaks_of_a_password():
    assert not [one for one in raised() if re.search(r"\{[^}]*(password|token|secret)[^}]*\}", one.fact)]
