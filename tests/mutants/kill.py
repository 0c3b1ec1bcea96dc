"""Which tests notice a fault: the mutants of `mutants.yaml`, one at a time, each in a copy of the checkout.

A test that fails in a copy without a fault kills nothing: each one that fails is run there, too.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from reaching import HERE, PROJECT, REPORT, Mutant, Reach, killers, let_tell, mutants
from runs import Outcome, copy_checkout, environment, pytest, run

# The tests of e2e start all that there is, and reach all of it.
RINGS = ("unit", "architecture", "dags", "properties", "faults", "integration")
# The runs of `./sluice test`, and of what `./sluice test all` has besides.
TEST, ALL = "not full", "full"
# The least time for a test by itself.
_ALONE_S = 300
# Tests that fail without a fault, before a mutant is left alone.
_UNSOUND = 5


def reach(args: argparse.Namespace) -> int:
    """Run rings, or files of tests, in a copy that tells which test reaches which mutant."""
    directory = args.reach.resolve()
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    paths = [f"tests/{one}" if one in RINGS else one for one in args.tests or RINGS]
    options = [f"--junit-xml={directory / REPORT}", "-q", "--no-header"]
    if args.jobs > 1:
        options += ["--numprocesses", str(args.jobs), "--dist", "loadfile", "--no-loadscope-reorder"]
    with copy_checkout() as copy:
        let_tell(copy, [one for one in mutants() if not one.is_stale], directory)
        code = subprocess.run([*pytest(), *paths, *options], cwd=copy, env=environment(copy), check=False).returncode
    print(f"{directory} says what is reached")
    return code


# The tests to run a mutant against.
Tests = Callable[[Mutant], Sequence[str]]


class Killing:
    """Runs mutants; which tests are sound is asked once for each."""

    def __init__(self, tests: Tests, plain: Path, limit_s: float, *, full: bool) -> None:
        self._tests = tests
        self._plain = plain
        self._limit_s = limit_s
        self._full = full
        self._sound: dict[str, bool] = {}
        self._lock = threading.Lock()

    def is_sound(self, test: str) -> bool:
        """Whether a test passes without a fault."""
        with self._lock:
            if test not in self._sound:
                outcome = run(self._plain, [test], "", max(self._limit_s, _ALONE_S))
                self._sound[test] = (outcome.said, outcome.passed) == ("survived", 1)
            return self._sound[test]

    def kill(self, mutant: Mutant) -> dict[str, Outcome]:
        """The outcomes of one mutant, by the tests that were run."""
        with copy_checkout() as copy:
            mutant.put_into(copy)
            tests = self._tests(mutant)
            found = {TEST: self._outcome(copy, tests, TEST)}
            if self._full and found[TEST].said != "killed":
                found[ALL] = self._outcome(copy, tests, ALL)
        for marks, one in found.items():
            print(f"{mutant.id}, {marks}, {len(tests)} tests reach it: {one}", flush=True)
        return found

    def _outcome(self, copy: Path, tests: Sequence[str], marks: str) -> Outcome:
        unsound: list[str] = []
        while len(unsound) < _UNSOUND:
            outcome = run(copy, [one for one in tests if one not in unsound], marks, self._limit_s)
            if not outcome.test or self.is_sound(outcome.test):
                return outcome
            unsound.append(outcome.test)
        return Outcome("not decided", why=f"{', '.join(unsound)} fail without it as well")


def kill(args: argparse.Namespace) -> int:
    """Run mutants, and keep what became of them."""
    every = mutants()
    if unknown := set(args.ids) - {one.id for one in every}:
        raise SystemExit(f"there is no mutant {', '.join(sorted(unknown))}")
    wanted = [one for one in every if one.id in args.ids or not args.ids]
    found = Reach(args.reach)
    for mutant, outcomes in _run(wanted, found.tests, args, sound=found.cheapest(), full=args.full):
        by_marks = {marks: asdict(one) for marks, one in outcomes.items()}
        kept = _read_results(args.results) | {mutant: {"on": date.today().isoformat(), **by_marks}}
        args.results.parent.mkdir(parents=True, exist_ok=True)
        args.results.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    return int(any(one.is_stale for one in wanted))


def again(args: argparse.Namespace) -> int:
    """Run each mutant against the one test that the table names for it. Nothing is kept."""
    known = killers(args.to)
    wanted = [one for one in mutants() if one.id in known]
    ended = dict(_run(wanted, lambda mutant: [known[mutant.id]], args))
    alive = [one.id for one in wanted if one.id not in ended or ended[one.id][TEST].said != "killed"]
    print(f"{len(wanted) - len(alive)} of {len(wanted)} are killed by the test of the table")
    if alive:
        print(f"HINT: others may kill them: kill.py reach, then kill.py kill {' '.join(alive)}")
    return int(bool(alive))


def _run(
    wanted: Sequence[Mutant], tests: Tests, args: argparse.Namespace, *, sound: Sequence[str] = (), full: bool = False
) -> Iterator[tuple[str, dict[str, Outcome]]]:
    """Run mutants side by side, and yield the id and the outcomes of each as it ends.

    Args:
        sound: tests that have to pass without a fault before any mutant is run.
    """
    for one in wanted:
        if one.is_stale:
            print(f"{one.id}: stale, its file has the text no longer, or more than once", flush=True)
    with copy_checkout() as plain, ThreadPoolExecutor(args.jobs) as pool:
        killing = Killing(tests, plain, args.limit_s, full=full)
        if broken := [test for test in sound if not killing.is_sound(test)]:
            raise SystemExit(f"nothing can be said here: {', '.join(broken)} fails without a fault")
        running = {pool.submit(killing.kill, one): one.id for one in wanted if not one.is_stale}
        for future in as_completed(running):
            yield running[future], future.result()


def _read_results(results: Path) -> dict[str, dict[str, Any]]:
    return json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}


def table(args: argparse.Namespace) -> int:
    """Write who kills what."""
    kept, rows, counts = _read_results(args.results), list[str](), (Counter[str](), Counter[str]())
    for one in mutants():
        found = [Outcome(**kept[one.id][marks]) for marks in (TEST, ALL) if marks in kept.get(one.id, {})]
        by_test = found[0] if found else None
        # Those that `./sluice test` leaves out may not have been run.
        by_all = _sum_up(found) if len(found) == 2 or (by_test and by_test.said == "killed") else None
        for number, outcome in enumerate((by_test, by_all)):
            counts[number][outcome.said if outcome else "not run"] += 1
        said = "the same" if by_all and by_all.test and by_all is by_test else _cell(by_all)
        rows.append(f"| {one.id} | {one.area} | {_cell(by_test)} | {said} |")
    days = sorted({one["on"] for one in kept.values()})
    when = f"Run on {' to '.join(dict.fromkeys([days[0], days[-1]]))}." if days else "Nothing was run."
    numbers = [", ".join(f"{said} {number}" for said, number in sorted(one.items())) for one in counts]
    lines = [
        "# Who kills what",
        "",
        f"{when} `kill.py table` writes this file.",
        "",
        f"- `./sluice test`: {numbers[0]}",
        f"- `./sluice test all`: {numbers[1]}",
        "",
        "| mutant | area | killed in `./sluice test` by | killed in `./sluice test all` by |",
        "|---|---|---|---|",
        *rows,
    ]
    args.to.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _sum_up(found: Sequence[Outcome]) -> Outcome:
    """The outcome of tests that were run in two parts: a kill by either, and no survival of what is not decided."""
    by_kind = {one.said: one for one in found}
    passed = sum(one.passed for one in found)
    return by_kind.get("killed") or by_kind.get("not decided") or Outcome("survived", passed=passed)


def _cell(outcome: Outcome | None) -> str:
    return str(outcome).replace("|", "\\|") if outcome else "not run"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    home = PROJECT / ".sluice"
    one = commands.add_parser("reach", help="run tests, and write down which mutants each reaches")
    one.add_argument("tests", nargs="*", help=f"rings, or files of tests; {', '.join(RINGS)} if none is named")
    one.add_argument("--reach", type=Path, default=home / "reach", help="the directory for it, which is emptied")
    one.add_argument("--jobs", type=int, default=3, help="processes that test side by side")
    one.set_defaults(run=reach)
    one = commands.add_parser("kill", help="run mutants against the tests that reach them")
    one.add_argument("ids", nargs="*", help="of mutants; all if none is named")
    one.add_argument(
        "--full", action="store_true", help="those that survive meet the tests of `./sluice test all`, too"
    )
    one.add_argument("--limit-s", type=float, default=900, help="seconds for a mutant; then it is not decided")
    one.add_argument("--jobs", type=int, default=2, help="mutants side by side")
    one.add_argument("--reach", type=Path, default=home / "reach", help="the directory that `reach` wrote to")
    one.add_argument("--results", type=Path, default=home / "mutants.json", help="where outcomes are kept")
    one.set_defaults(run=kill)
    one = commands.add_parser("again", help="run each mutant against the one test that the table names for it")
    one.add_argument("--limit-s", type=float, default=600, help="seconds for a mutant; then it is not decided")
    one.add_argument("--jobs", type=int, default=2, help="mutants side by side")
    one.add_argument("--to", type=Path, default=HERE / "table.md", help="the table")
    one.set_defaults(run=again)
    one = commands.add_parser("table", help="write the table of who kills what")
    one.add_argument("--results", type=Path, default=home / "mutants.json", help="where outcomes are kept")
    one.add_argument("--to", type=Path, default=HERE / "table.md", help="the file to write")
    one.set_defaults(run=table)
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    sys.exit(arguments.run(arguments))
