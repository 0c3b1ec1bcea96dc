"""The list of faults that tests have to notice, as `tests/mutants/kill.py` puts them in."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import yaml

from sluice.paths import PROJECT

FOLDER = PROJECT / "tests" / "mutants"
KEYS = {"id", "area", "file", "before", "after", "lost"}
MUTANTS = yaml.safe_load((FOLDER / "mutants.yaml").read_text(encoding="utf-8"))


def test_there_are_sixty_faults_each_with_an_id_of_its_own():
    assert len({one["id"] for one in MUTANTS}) == len(MUTANTS) >= 60
    areas = {"publish", "drain", "apply", "initial_update", "verify", "repair", "capture", "SQL"}
    assert {one["area"] for one in MUTANTS} == areas


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one["id"])
def test_a_fault_can_be_put_in_and_is_one(mutant):
    assert KEYS <= mutant.keys() <= KEYS | {"through", "first"}
    assert mutant["lost"].strip()
    text = (PROJECT / mutant["file"]).read_text(encoding="utf-8")
    assert text.count(mutant["before"]) == 1, "its text is in the file no longer, or more than once"
    assert mutant["after"] != mutant["before"]
    if mutant["file"].endswith(".py"):
        compile(text.replace(mutant["before"], mutant["after"]), mutant["file"], "exec")
    for path in (*mutant.get("first", ()), *([mutant["through"]] if "through" in mutant else ())):
        assert (PROJECT / path).is_file()


def test_a_test_that_the_table_names_is_there(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from reaching import killers

    named = killers(FOLDER / "table.md")
    assert len({mutant["id"] for mutant in MUTANTS} & named.keys()) >= 50
    for test in named.values():
        file, _, name = test.partition("::")
        function = name.partition("[")[0]
        assert f"def {function}(" in (PROJECT / file).read_text(encoding="utf-8"), test


MODULE = '''"""A module."""

from __future__ import annotations

from sluice.sqlfiles import statement

LIMIT = 3


def some(number):
    """Its documentation."""
    if number < LIMIT:
        return "few"
    elif number > 10:
        return statement("postgresql", "one/query")
    return "some"
'''
SQL_FILES = """
from functools import cache


@cache
def statement(vendor, name):
    return name
"""


def test_a_copy_tells_which_test_runs_the_statement_that_has_a_fault(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from reaching import Mutant, let_tell

    package = tmp_path / "include" / "sluice"
    package.mkdir(parents=True)
    for name, text in {"__init__": "", "sqlfiles": SQL_FILES, "module": MODULE}.items():
        (package / f"{name}.py").write_text(text)
    file = "include/sluice/module.py"
    faults = {"a constant": "LIMIT = 3", "a branch": "number > 10", "an end": '"some"', "a branch within": '"few"'}
    mutants = [Mutant(name, "publish", file, before, "", "") for name, before in faults.items()]
    mutants.append(Mutant("a query", "SQL", "sql/postgresql/one/query.sql", "", "", ""))
    let_tell(tmp_path, mutants, tmp_path)
    reached = {}
    for number in (1, 5, 11):
        program = f"from sluice.module import some; some({number})"
        environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTEST_CURRENT_TEST": f"tests/{number} (call)"}
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
        lines = [line for one in tmp_path.glob("reached.*") for line in one.read_text().splitlines()]
        reached[number] = {line.partition("\t")[2] for line in lines if line.startswith(f"tests/{number}\t")}
    assert reached == {
        1: {"a constant", "a branch within"},
        5: {"a constant", "a branch", "an end"},
        11: {"a constant", "a branch", "a query"},
    }
