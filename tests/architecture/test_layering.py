"""Who may import whom: imports run one way, down a list of layers, and never in a circle."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
CORE = PROJECT / "include" / "sluice"
# From the ground up. A module imports from lower layers, and from its own package. Packages of one layer do not know
# each other. A name with a dot is a package within another one.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("outside_text",),
    ("errors", "error_codes", "log", "crash", "paths", "spark_environment", "process_end"),
    ("library_errors",),
    (
        "model",
        "sqlfiles",
        "prefetch",
        "bounded_calls",
        "process_group",
        "arrow_rows",
        "arrow_without_pandas",
        "release",
        "spark.errors",
    ),
    ("state", "values", "extensions", "shell", "loopback"),
    ("connections", "hints", "expressions", "storage"),
    ("tls", "config", "passwords"),
    ("libpq",),
    ("pooler",),
    ("store",),
    ("spark.versions",),
    ("changelog", "spark.session"),
    ("messages",),
    ("apply",),
    ("verify.difference",),
    ("verify.merge_compare",),
    ("verify.bucket_compare",),
    ("vendors.protocol",),
    ("vendors",),
    ("airflow_api",),
    ("context",),
    ("capture", "statements", "steps", "relay", "throttle"),
    ("drain.shared_tables",),
    ("drain.third_databases",),
    ("publish", "drain", "verify"),
    ("initial_update",),
    ("repair",),
    ("commands",),
    ("monitor",),
    ("pages",),
    ("spark",),
    ("runtime",),
    ("demo",),
    ("bench", "dev"),
    ("cli",),
)
VENDORS = {"postgresql", "postgres", "gaussdb", "opengauss", "oracle", "mariadb", "mysql", "sqlite", "mssql", "db2"}


def modules(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (PROJECT / folder).rglob("*.py"))


def imported_by(node: ast.AST) -> list[str]:
    """The modules that a statement imports, and each name taken from one."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def imported(file: Path) -> Iterator[str]:
    """Every module that a file imports, also inside functions, and each name taken from one."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        assert not getattr(node, "level", 0), f"{file} has a relative import"
        yield from imported_by(node)


def top(name: str) -> str:
    return name.partition(".")[0]


def named(file: Path) -> str:
    """A module of the core by its name without `sluice.`; a package by its own."""
    parts = file.relative_to(CORE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name: file for file in modules("include/sluice") if (name := named(file))}


@cache
def core_imports() -> dict[str, set[str]]:
    """By each module of the core, those of the core that it imports."""
    found: dict[str, set[str]] = {}
    for module, file in FILES.items():
        names = {name.removeprefix("sluice.") for name in imported(file) if top(name) == "sluice"}
        # A module's own package is loaded before it, whatever it imports.
        found[module] = {name for name in names if name in FILES and not f"{module}.".startswith(f"{name}.")}
    return found


def layer_of(module: str, layers: Mapping[str, int]) -> tuple[str, int]:
    """The package of the list that a module belongs to, the longest name first, and its layer."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if (package := ".".join(parts[:length])) in layers:
            return package, layers[package]
    raise AssertionError(f"{module} belongs to no layer")


def test_a_module_imports_from_its_own_package_and_from_lower_layers_alone():
    layers = {package: number for number, packages in enumerate(LAYERS) for package in packages}
    climbs = []
    for module in sorted(FILES):
        own, layer = layer_of(module, layers)
        for name in core_imports()[module]:
            package, other = layer_of(name, layers)
            if package != own and other >= layer:
                climbs.append(f"{module} imports {name}, which is not below it")
    assert core_imports().keys() >= FILES.keys()
    assert not climbs


def test_the_list_of_layers_names_packages_that_exist():
    packages = [package for layer in LAYERS for package in layer]
    assert len(packages) == len(set(packages))
    assert not [package for package in packages if not any(f"{name}.".startswith(f"{package}.") for name in FILES)]


def test_the_architecture_page_has_these_layers():
    page = (PROJECT / "include" / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert "\n".join(["```", *(" ".join(packages) for packages in LAYERS), "```"]) in page


def test_no_module_imports_itself_over_others():
    try:
        list(TopologicalSorter(core_imports()).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_model_and_state_know_the_standard_library_and_each_other_alone():
    files = modules("include/sluice/model", "include/sluice/state")
    assert files
    own = ("sluice.model", "sluice.state", "sluice.outside_text")
    assert not [
        f"{file.stem} imports {name}"
        for file in files
        for name in imported(file)
        if top(name) not in sys.stdlib_module_names and not name.startswith(own)
    ]


def test_airflow_is_imported_in_dags_and_plugins_alone():
    core = modules("include", "spark_jobs", "sql", "deploy")
    assert not [
        file for file in core if "airflow" in map(top, imported(file)) or "sluice_airflow" in map(top, imported(file))
    ]


def test_pyspark_is_imported_in_the_spark_package_and_in_jobs_alone():
    files = [file for file in modules("include", "plugins", "dags") if CORE / "spark" not in file.parents]
    assert not [file for file in files if {"pyspark", "py4j"} & set(map(top, imported(file)))]


@pytest.mark.parametrize("name", ["drain", "publish"])
def test_a_job_that_was_given_no_spark_does_not_wait_for_the_import_of_pyspark(name):
    waiting, seen = [PROJECT / "spark_jobs" / f"{name}.py"], set()
    while waiting:
        file = waiting.pop()
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            names = imported_by(node)
            assert not {"pyspark", "py4j"} & set(map(top, names)), file
            paths = {path for one in names for path in module_files(one)} - seen
            seen |= paths
            waiting += paths
    assert CORE / "spark" / "step_factory.py" in seen


def module_files(name: str) -> list[Path]:
    """The files of ours that are executed when a module is imported, of those above it, too."""
    parts = name.split(".")
    above = [PROJECT.joinpath("include", *parts[:n]) for n in range(1, len(parts) + 1)]
    return [file for path in above for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]


def test_dags_and_plugins_know_the_configuration_of_the_core_and_none_of_its_work():
    allowed = (
        "sluice.airflow_api.client",
        "sluice.airflow_api.runs",
        "sluice.bounded_calls",
        "sluice.process_group",
        "sluice.config",
        "sluice.connections",
        "sluice.context",
        "sluice.errors",
        "sluice.loopback",
        "sluice.model",
        "sluice.pages",
        "sluice.outside_text",
        "sluice.paths",
        "sluice.shell",
        "sluice.spark_environment",
        "sluice.state",
    )
    for file in modules("dags", "plugins"):
        known = {name for name in imported(file) if top(name) == "sluice" and name != "sluice"}
        assert not {name for name in known if not f"{name}.".startswith(tuple(f"{one}." for one in allowed))}, file


# Files of one format are files of another one, too.
BUILDS_ON = {"iceberg": {"parquet"}, "gaussdb": {"postgresql"}}


def test_a_vendor_knows_no_other_vendor():
    vendors = {folder.name for folder in (CORE / "vendors").iterdir() if (folder / "vendor.py").exists()}
    assert vendors
    known = []
    for module, names in core_imports().items():
        own = module.split(".")[1] if module.startswith("vendors.") else ""
        others = vendors - {own} - BUILDS_ON.get(own, set())
        foreign = tuple(f"vendors.{name}." for name in others)
        known += [f"{module} imports {name}" for name in names if own in vendors and f"{name}.".startswith(foreign)]
    assert not known


def asks_for_a_vendor(node: ast.AST) -> bool:
    """A comparison with the name of a vendor or of its way to capture, or a match on one."""
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
    return bool(texts & VENDORS) or bool(
        {"vendor", "capture", "dialect", "conn_type"} & fields and isinstance(node, ast.Compare)
    )


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


def test_sessions_of_postgresql_are_opened_in_one_place():
    """Elsewhere variables of the environment would say what a connection leaves open."""
    found = [
        f"{file.relative_to(PROJECT)}:{node.lineno}"
        for file in modules("include/sluice")
        if file != CORE / "libpq.py"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("psycopg.connect", "psycopg.Connection.connect")
    ]
    assert not found


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
