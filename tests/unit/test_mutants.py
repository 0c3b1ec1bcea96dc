"""The list of faults that tests have to notice, as `tests/mutants/kill.py` puts them in."""

from __future__ import annotations

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
