"""Who may import whom: the layering that keeps work and orchestration, and core and vendors, apart."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
CORE = PROJECT / "include" / "sluice"
STAGES = {"capture", "publish", "changelog", "dispatch", "apply", "initial_update", "messages", "verify"}
# What a stage offers to others; everything else in it is its inside.
OFFERED = {
    "apply.grouping",
    "apply.copied",
    "apply.dividing",
    "apply.effects",
    "apply.mapper",
    "apply.net",
    "apply.order",
    "apply.shapes",
    "apply.view",
    "changelog.cutting",
    "changelog.files",
    "changelog.manifest",
    "changelog.schema",
    "dispatch.overlap",
    "dispatch.reaching",
    "initial_update.job",
    "initial_update.plan",
    "messages.described",
    "messages.message",
    "messages.reading",
    "messages.writing",
    "verify.compare",
    "verify.comparison",
    "verify.points",
}
# What a stage may import besides other stages' offers; the second line is what ADR 8 adds.
ALLOWED = {"model", "state", "errors", "vendors.protocol", "vendors.dumping", "vendors.sweeping", "vendors.registry"}
ALLOWED |= {"control", "context", "connections", "config", "keyfiles", "parts", "log", "crash", "expressions", "hooks"}
ALLOWED |= {"taking", "ahead", "orphans", "commands"}
# They put parts together, so they know everybody.
COMPOSING = {
    "bench",
    "context",
    "control",
    "demo",
    "runtime",
    "shell",
    "shell_airflow",
    "shell_context",
    "shell_status",
    "spark",
}
VENDORS = {"postgresql", "postgres", "oracle", "mariadb", "mysql", "sqlite", "mssql", "db2"}


def modules(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (PROJECT / folder).rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    """Every module that a file imports, also inside functions, and each name taken from one."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def top(name: str) -> str:
    return name.partition(".")[0]


def part_of(name: str) -> str:
    """The part of the core that a module of it belongs to."""
    return name.split(".")[1]


@pytest.mark.parametrize("file", modules("include/sluice/model", "include/sluice/state"), ids=lambda file: file.stem)
def test_model_and_state_know_the_standard_library_and_each_other_alone(file):
    foreign = {name for name in imported(file) if top(name) not in sys.stdlib_module_names}
    assert not {name for name in foreign if not name.startswith(("sluice.model", "sluice.state"))}


def test_airflow_is_imported_in_dags_and_plugins_alone():
    core = modules("include", "spark_jobs", "sql", "deploy")
    assert not [
        file for file in core if "airflow" in map(top, imported(file)) or "sluice_airflow" in map(top, imported(file))
    ]


def test_pyspark_is_imported_in_the_spark_package_and_in_jobs_alone():
    files = [file for file in modules("include", "plugins", "dags") if CORE / "spark" not in file.parents]
    assert not [file for file in files if {"pyspark", "py4j"} & set(map(top, imported(file)))]


def test_dags_and_plugins_know_the_configuration_of_the_core_and_none_of_its_work():
    allowed = (
        "sluice.shell",
        "sluice.config.configuration",
        "sluice.connections",
        "sluice.airflow_api.client",
        "sluice.airflow_api.runs",
        "sluice.errors",
        "sluice.child_process",
        "sluice.model.requester",
    )
    for file in modules("dags", "plugins"):
        known = {name for name in imported(file) if top(name) == "sluice" and name != "sluice"}
        assert not {name for name in known if not name.startswith(allowed)}, file


def bound() -> list[Path]:
    """The modules that must keep out of other stages' insides."""
    return [
        file for file in modules("include/sluice") if file.relative_to(CORE).with_suffix("").parts[0] not in COMPOSING
    ]


@pytest.mark.parametrize("file", bound(), ids=lambda file: "/".join(file.relative_to(CORE).parts))
def test_a_stage_shows_others_only_what_it_offers(file):
    own = file.relative_to(CORE).with_suffix("").parts[0]
    others = {name for name in imported(file) if top(name) == "sluice" and "." in name}
    for name in others:
        stage = part_of(name)
        if stage not in STAGES or stage == own or name == f"sluice.{stage}":
            continue
        module = ".".join(name.split(".")[1:3])
        assert module in OFFERED, f"{name} is an inside of another stage"


@pytest.mark.parametrize("stage", sorted(STAGES & {path.name for path in CORE.iterdir()}))
def test_a_stage_imports_what_is_listed_and_nothing_else(stage):
    for file in modules(f"include/sluice/{stage}"):
        for name in imported(file):
            if top(name) != "sluice" or "." not in name or part_of(name) in STAGES:
                continue
            inside = name.removeprefix("sluice.")
            assert any(f"{inside}.".startswith(f"{allowed}.") for allowed in ALLOWED), f"{file} imports {name}"


def test_what_a_stage_offers_exists():
    missing = [name for name in OFFERED if not (CORE / f"{name.replace('.', '/')}.py").exists()]
    assert not missing


def asks_for_a_vendor(node: ast.AST) -> bool:
    """A comparison with a vendor's name, or a match on one."""
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.MatchValue):
        parts = [node.value]
    elif isinstance(node, ast.Dict):
        parts = [key for key in node.keys if key]
    else:
        return False
    texts = {leaf.value for part in parts for leaf in ast.walk(part) if isinstance(leaf, ast.Constant)}
    fields = {leaf.attr for part in parts for leaf in ast.walk(part) if isinstance(leaf, ast.Attribute)}
    return bool(texts & VENDORS) or bool({"vendor", "dialect", "conn_type"} & fields and isinstance(node, ast.Compare))


def test_core_code_asks_for_capabilities_and_never_for_a_vendor():
    skipped = {"vendors", "runtime", "demo", "bench"}
    files = [file for file in modules("include/sluice") if file.relative_to(CORE).parts[0] not in skipped]
    asking = [
        f"{file.relative_to(PROJECT)}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if asks_for_a_vendor(node)
    ]
    assert not asking


def test_no_module_makes_an_arrow_array_when_it_is_imported():
    """The first one that PyArrow makes imports pandas: a second, which every command of a shell would pay."""
    found = [
        f"{file.relative_to(PROJECT)}:{node.lineno}"
        for file in modules("include/sluice")
        for statement in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pa.array"
    ]
    assert not found
