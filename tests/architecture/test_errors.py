"""Errors for operators: one code has one meaning, a fact and a hint."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sluice.vendors.postgresql.session import _STATES

PROJECT = Path(__file__).resolve().parents[2]
CORE = PROJECT / "include" / "sluice"
ERRORS = {"SluiceError", "TransientError", "FencedError", "ConfigError"}
# Codes that are raised in several places, and the words that all of these have in common.
SHARED = {
    3: "no ",
    14: "connection",
    39: "source exported no snapshot|SQLSTATE",
    40: "watched table",
    41: "trigger",
    46: "cannot be written",
    50: "took over|taken over|with an epoch above",
    68: "not one that Sluice wrote",
    74: "would act a second time",
}


@dataclass(frozen=True)
class Raised:
    """One place that makes an error."""

    code: int
    kind: str
    fact: str
    hinted: bool
    place: str


def raised() -> Iterator[Raised]:
    for file in sorted(CORE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS):
                continue
            assert len(node.args) >= 2, f"{file}:{node.lineno} has no fact"
            code = node.args[0]
            if isinstance(code, ast.Constant):
                yield Raised(
                    code.value,
                    node.func.id,
                    ast.unparse(node.args[1]),
                    len(node.args) > 2 or bool(node.keywords),
                    f"{file.relative_to(PROJECT)}:{node.lineno}",
                )


ALL = list(raised())


def test_errors_are_found():
    assert len(ALL) > 40


def test_a_code_has_one_meaning():
    by_code: dict[int, list[Raised]] = {}
    for one in ALL:
        by_code.setdefault(one.code, []).append(one)
    for code, places in by_code.items():
        if len(places) > 1:
            assert code in SHARED, f"SLC-{code:03d} is raised in several places: {[one.place for one in places]}"
            strange = [one for one in places if not re.search(SHARED[code], one.fact)]
            assert not strange, f"SLC-{code:03d} means something else there"


def test_a_code_is_always_or_never_worth_a_retry():
    for code in {one.code for one in ALL}:
        transient = {one.kind == "TransientError" for one in ALL if one.code == code}
        assert len(transient) == 1, f"SLC-{code:03d}"


def test_codes_of_the_driver_are_of_one_kind_wherever_they_are_raised():
    driver = {(code, transient) for code, transient, _ in _STATES.values()}
    assert len(driver) == len({code for code, _ in driver})
    ours = {(one.code, one.kind == "TransientError") for one in ALL if one.code in dict(driver)}
    assert ours <= driver


def test_what_an_operator_can_mend_has_a_hint():
    # No operator can do anything about these: a defect, or a state that the same run ends by itself.
    silent = {39, 50}
    assert not [one for one in ALL if not one.hinted and one.code not in silent]
    assert all(hint for _, _, hint in _STATES.values())


def test_no_fact_speaks_of_a_password():
    assert not [one for one in ALL if re.search(r"\{[^}]*(password|token|secret)[^}]*\}", one.fact)]
