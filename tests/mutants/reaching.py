"""Which tests reach a fault: those during which a copy of the checkout ran the statement that has it."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import yaml

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
REPORT = "report.xml"
# A row of the table that names a killer.
_KILLED = r"^\| ([a-z-]+) \| [^|]+ \| (tests/[^|]+), \d+ s \|"
# Rings by what a test of them costs: those that begin at once, those that need servers, and the one with Airflow.
_RANKS = {"unit": 0, "architecture": 1, "dags": 3}
_OTHERS = 2
# The module of a copy that writes down which test reached which mutant, and what `sluice.sqlfiles` has there besides.
_TELLING = """import os

_known = set()


def tell(*mutants):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    for one in {{(test, mutant) for mutant in mutants}} - _known if test else ():
        _known.add(one)
        with open(f"{directory}/reached.{{os.getpid()}}", "a", encoding="utf-8") as out:
            out.write("\\t".join(one) + "\\n")
"""
_READING = """

_MUTANTS = {mutants!r}
_read = statement


def statement(vendor, name):
    from sluice._reached import tell

    tell(*_MUTANTS.get(f"sql/{{vendor}}/{{name}}.sql", ()))
    return _read(vendor, name)


statement.cache_clear = _read.cache_clear
"""


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


def let_tell(copy: Path, found: Iterable[Mutant], directory: Path) -> None:
    """Let a copy of the checkout write to a directory which test reaches which of these mutants."""
    statements = defaultdict[str, list[str]](list)
    for one in found:
        if not one.file.endswith(".py"):
            statements[one.file].append(one.id)
    for file in [*copy.glob("include/sluice/**/*.py"), *copy.glob("plugins/**/*.py")]:
        _let_file_tell(file, str(file.relative_to(copy)), found)
    reading = copy / "include/sluice/sqlfiles.py"
    reading.write_text(reading.read_text("utf-8") + _READING.format(mutants=dict(statements)), encoding="utf-8")
    telling = copy / "include/sluice/_reached.py"
    telling.write_text(_TELLING.format(directory=directory), encoding="utf-8")


def _let_file_tell(file: Path, name: str, found: Iterable[Mutant]) -> None:
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    told: dict[ast.stmt, list[str]] = defaultdict(list)
    for mutant in found:
        for place in _places(text, tree, name, mutant):
            told[place].append(mutant.id)
    if told:
        _add_probes(tree, told)
        file.write_text(ast.unparse(tree), encoding="utf-8")


def _places(text: str, tree: ast.Module, name: str, mutant: Mutant) -> Iterator[ast.stmt]:
    """The statements before which a mutant is told."""
    if name == mutant.file:
        first = text[: text.index(mutant.before)].count("\n") + 1
        around = range(first, first + len(mutant.before.splitlines()))
        yield from {place for line in around for place in _at_work(tree, line)} or _beginnings(tree)
    elif name == mutant.through:
        yield from _beginnings(tree)
    elif mutant.file.endswith(".sql"):
        # What was read at an import, or is kept, is read again by nobody.
        said = mutant.file.removesuffix(".sql").partition("/")[2].partition("/")[2]
        for one in ast.walk(tree):
            if isinstance(one, ast.Constant) and one.value == said:
                yield from _at_work(tree, one.lineno)


def _at_work(tree: ast.Module, line: int) -> list[ast.stmt]:
    """The statements that are run where a line is at work.

    Of a constant these are the ones that name it: the constant itself is run by an import alone.
    """
    around = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and one.lineno <= line <= _end(one)]
    if not around:
        return []
    innermost = max(around, key=lambda one: (one.lineno, -_end(one)))
    if isinstance(innermost, ast.FunctionDef):
        return [_beginning(innermost)]
    if any(isinstance(one, ast.FunctionDef) for one in around):
        return [innermost]
    if not isinstance(innermost, ast.Assign):
        return []
    names = {one.id for one in innermost.targets if isinstance(one, ast.Name)}
    uses = [one.lineno for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id in names]
    return [place for use in uses if use > _end(innermost) for place in _at_work(tree, use)]


def _beginnings(tree: ast.Module) -> list[ast.stmt]:
    return [_beginning(one) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]


def _beginning(function: ast.FunctionDef) -> ast.stmt:
    """Its first statement, which is not its documentation if it has another one."""
    documented = ast.get_docstring(function, clean=False) is not None
    return function.body[min(int(documented), len(function.body) - 1)]


def _add_probes(tree: ast.Module, told: Mapping[ast.stmt, Sequence[str]]) -> None:
    for parent in list(ast.walk(tree)):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(parent, name, None), list):
                setattr(parent, name, [one for stmt in block for one in (*_probe(told.get(stmt)), stmt)])


def _probe(ids: Sequence[str] | None) -> list[ast.stmt]:
    words = ", ".join(map(repr, sorted(set(ids or ()))))
    return ast.parse(f"__import__('sluice._reached', fromlist=['tell']).tell({words})").body if words else []


class Reach:
    """What a run of `kill.py reach` left: `reached.*` by each process, and the report of pytest."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        if not list(directory.glob("reached.*")):
            raise SystemExit(f"{directory} has no data; type: kill.py reach")

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that reach it, file by file, in the order in which they are to run: those that are likely first."""
        found, fault = self._tests[mutant.id], _words(f"{mutant.id} {mutant.file} {mutant.lost}")
        seconds: dict[str, list[float]] = defaultdict(list)
        likeness: dict[str, float] = defaultdict(float)
        for test in found:
            file = file_of(test)
            seconds[file].append(self._seconds.get(test, 0.1))
            # A word that few files have says more than one that many have.
            likely = sum(1 / self._files_with[word] for word in fault & _words(test.partition("/")[2]))
            likeness[file] = max(likeness[file], likely)

        def rank(test: str) -> tuple[bool, float, int, float, str, str]:
            file = file_of(test)
            ring = _RANKS.get(Path(file).parts[1], _OTHERS)
            late = file not in mutant.first and ring > 0
            return late, -likeness[file], ring, sum(seconds[file]) / len(seconds[file]), file, test

        return sorted(found, key=rank)

    def cheapest(self) -> list[str]:
        """The test of each ring that takes the least time."""
        by_time = sorted(self._seconds, key=lambda test: self._seconds[test], reverse=True)
        return list({Path(test).parts[1]: test for test in by_time}.values())

    @cached_property
    def _tests(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for file in self._directory.glob("reached.*"):
            for line in file.read_text(encoding="utf-8").splitlines():
                test, _, mutant = line.rpartition("\t")
                found[mutant].add(test)
        return found

    @cached_property
    def _files_with(self) -> Counter[str]:
        """How many files have a word, in their name or that of a test."""
        words: dict[str, set[str]] = defaultdict(set)
        for test in set().union(*self._tests.values()):
            words[file_of(test)] |= _words(test.partition("/")[2])
        return Counter(word for some in words.values() for word in some)

    @cached_property
    def _seconds(self) -> dict[str, float]:
        cases = ElementTree.parse(self._directory / REPORT).iter("testcase")
        return {
            f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}": float(case.get("time") or 0)
            for case in cases
            if not len(case)
        }


def killers(table: Path) -> dict[str, str]:
    """What the table says: by the id of a mutant the test of `./sluice test` that killed it."""
    text = table.read_text(encoding="utf-8").replace("\\|", "\0")
    return {mutant: test.replace("\0", "|") for mutant, test in re.findall(_KILLED, text, re.MULTILINE)}


def file_of(test: str) -> str:
    """The file of a test."""
    return test.partition("::")[0]


def _words(text: str) -> set[str]:
    """Words of names, by which a test is likely to be of a fault; in the singular."""
    return {one.removesuffix("s") for one in re.findall(r"[a-z]{4,}", text.lower())} - {"test", "sluice", "include"}


def _end(one: ast.stmt) -> int:
    return one.end_lineno or one.lineno
