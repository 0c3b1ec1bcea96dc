"""Which tests reach a fault: by the lines that each test runs, and the SQL files that it reads."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import coverage
import yaml

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
DIGESTS, REPORT, COMBINED = "digests.json", "report.xml", "combined"
# Rings whose tests begin at once, before those that need servers, and the one with Airflow, which begins last.
_RANKS = {"unit": 0, "properties": 2, "architecture": 3, "dags": 5}
_FIRST, _OTHERS = 1, 4
# `id|run` where a test runs itself, `id (call)` in a process that it starts.
_CONTEXT = re.compile(r"(tests/.+?)(?:\|(?:setup|run|teardown)| \((?:setup|call|teardown)\).*)", re.DOTALL)


@dataclass(frozen=True)
class Mutant:
    """A fault; `mutants.yaml` says what its parts are."""

    id: str
    area: str
    file: str
    before: str
    after: str
    lost: str
    through: str = ""
    first: Sequence[str] = ()

    @property
    def is_stale(self) -> bool:
        """Whether its file has the text no longer, or more than once."""
        file = PROJECT / self.file
        return not file.exists() or file.read_text(encoding="utf-8").count(self.before) != 1

    def put_into(self, copy: Path) -> None:
        """Make the fault in a copy of the checkout."""
        file = copy / self.file
        file.write_text(file.read_text(encoding="utf-8").replace(self.before, self.after), encoding="utf-8")


def mutants() -> list[Mutant]:
    """All of them."""
    return [Mutant(**one) for one in yaml.safe_load((HERE / "mutants.yaml").read_text(encoding="utf-8"))]


def digests() -> dict[str, str]:
    """The files whose lines count, as they are now."""
    files = (one for folder in ("include", "plugins") for one in (PROJECT / folder).rglob("*.py"))
    return {str(one.relative_to(PROJECT)): _digest(one) for one in files}


class Reach:
    """What a run of `kill.py reach` left: `cov.*` of coverage.py, `sql.*` of the recorder, and the report of pytest."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        if not (directory / COMBINED).exists():
            # What a run combines itself is in `cov`.
            pieces = [str(one) for one in sorted((*directory.glob("cov"), *directory.glob("cov.*")))]
            if not pieces:
                raise SystemExit(f"{directory} has no data; type: kill.py reach")
            whole = coverage.Coverage(data_file=str(directory / COMBINED), config_file=False)
            whole.combine(pieces, strict=True, keep=True)
            whole.save()
        self._data = coverage.CoverageData(str(directory / COMBINED))
        self._data.read()
        self._files = {path[path.rfind("/include/") + 1 :]: path for path in self._data.measured_files()}
        known = directory / DIGESTS
        self._digests: dict[str, str] = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that reach it, file by file, in the order in which they are to run: those that are likely first."""
        if mutant.file.endswith(".py"):
            found = self._running(mutant.file, lambda text: lines_of(text, mutant.before))
        else:
            name = mutant.file.removeprefix("sql/").removesuffix(".sql")
            found = set(self._readers[name])
            # What a process of a test reads is not recorded; the line that names it is.
            said = f'"{name.partition("/")[2]}"'
            search = ["git", "grep", "-lF", said, "--", "include/*.py"]
            for file in subprocess.run(search, cwd=PROJECT, capture_output=True, text=True, check=False).stdout.split():
                found |= self._running(file, lambda text: lines_of(text, said))
            if mutant.through:
                found |= self._running(mutant.through)
        seconds: dict[str, list[float]] = defaultdict(list)
        likely = _words(f"{mutant.id} {mutant.file}")
        for test in found:
            seconds[file_of(test)].append(self._seconds.get(test, 0.1))

        def rank(test: str) -> tuple[float, int, float, str, str]:
            file = file_of(test)
            ring = _FIRST if file in mutant.first else _RANKS.get(Path(file).parts[1], _OTHERS)
            return ring, -len(likely & _words(Path(file).stem)), sum(seconds[file]) / len(seconds[file]), file, test

        return sorted(found, key=rank)

    def cheapest(self) -> list[str]:
        """The test of each ring that takes the least time."""
        by_time = sorted(self._seconds, key=lambda test: self._seconds[test], reverse=True)
        return list({Path(test).parts[1]: test for test in by_time}.values())

    def _running(self, file: str, lines: Callable[[str], set[int]] = lambda _: set()) -> set[str]:
        """The tests that run lines of a file: any, if none of them is named, or if the file is another one by now."""
        if file not in self._files:
            return set()
        changed = self._digests.get(file, "") not in ("", _digest(PROJECT / file))
        wanted = set() if changed else lines((PROJECT / file).read_text(encoding="utf-8"))
        found = self._data.contexts_by_lineno(self._files[file])
        names = {name for line, some in found.items() if line in wanted or not wanted for name in some}
        return {known[1] for name in names if (known := _CONTEXT.fullmatch(name))}

    @cached_property
    def _readers(self) -> dict[str, set[str]]:
        """Tests by the SQL that they read, as `vendor/name`."""
        found: dict[str, set[str]] = defaultdict(set)
        for file in self._directory.glob("sql.*"):
            for line in file.read_text(encoding="utf-8").splitlines():
                test, _, name = line.rpartition("\t")
                found[name] |= {test} - {""}
        return found

    @cached_property
    def _seconds(self) -> dict[str, float]:
        cases = (
            case for one in self._directory.glob("report*.xml") for case in ElementTree.parse(one).iter("testcase")
        )
        return {
            f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}": float(case.get("time") or 0)
            for case in cases
            if not len(case)
        }


def file_of(test: str) -> str:
    """The file of a test."""
    return test.partition("::")[0]


def _words(text: str) -> set[str]:
    """Words of names, by which a test is likely to be of a fault; in the singular."""
    return {one.removesuffix("s") for one in re.findall(r"[a-z]{4,}", text.lower())} - {"test", "sluice", "include"}


def lines_of(text: str, part: str) -> set[int]:
    """The lines of a module that are run where a part of it is at work.

    Of a constant these are the lines that name it: the constant itself is run by an import alone.
    """
    first = text[: text.index(part)].count("\n") + 1
    tree, found = ast.parse(text), set[int]()
    for line in range(first, first + len(part.splitlines())):
        around = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and one.lineno <= line <= _end(one)]
        if not around:
            continue
        innermost = max(around, key=lambda one: (one.lineno, -_end(one)))
        if any(isinstance(one, ast.FunctionDef) and one is not innermost for one in around):
            body = getattr(innermost, "body", None)
            found.update(range(innermost.lineno, body[0].lineno if body else _end(innermost) + 1))
        elif isinstance(innermost, ast.Assign):
            names = {one.id for one in innermost.targets if isinstance(one, ast.Name)}
            uses = (one for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id in names)
            found.update(one.lineno for one in uses if one.lineno > _end(innermost))
    return found


def _end(one: ast.stmt) -> int:
    return one.end_lineno or one.lineno


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()
