"""The wheel with the oldest packages that it allows: all of it is imported, and its own tests pass."""

from __future__ import annotations

import ast

import pytest
from support.launcher import clean
from support.stock import installed
from support.stock_deployment import DAGS, environment_of_dags

from sluice.paths import PROJECT

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.airflow, pytest.mark.postgres]

SHIPPED = ("dags/sluice_airflow_dags", "include/sluice", "plugins/sluice_airflow")
NOT_SHIPPED = ("include/sluice/bench", "include/sluice/demo", "include/sluice/dev")
IMPORTING = """
import sys
from importlib import import_module
from pkgutil import walk_packages
for package in ("sluice", "sluice_airflow", "sluice_airflow_dags"):
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
for statement in sys.argv[1:]:
    exec(statement)
from sluice_airflow_dags import sluice_dags
from sluice.pages.app import application
from sluice_airflow.api_server import ApiServer
assert application(ApiServer()).routes
print(*sorted(sluice_dags()))
"""
# The wheel asks for none of it, or works without.
WHERE_INSTALLED = (
    "from airflow.providers.openlineage",
    "from airflow.providers.common.compat.openlineage",
    "from pyspark.sql.connect.client.retries",
    "from pyspark.sql.datasource",
)
# Decisions, and each library that has to do with a server, a program or a file.
THEIR_USES = ("unit", "integration/test_capture.py", "integration/test_iceberg.py", "integration/test_mariadb.py")
# They ask for packages of developers.
FOR_DEVELOPERS = ("unit/test_compose.py", "unit/test_docs.py", "unit/test_workflows.py")


@pytest.fixture(scope="module")
def oldest(tmp_path_factory):
    return installed(tmp_path_factory.mktemp("oldest"), lowest=True)


def late_imports() -> list[str]:
    """The imports of others' packages that the product's functions make when they are called."""
    files = [file for folder in SHIPPED for file in (PROJECT / folder).rglob("*.py")]
    trees = [ast.parse(file.read_text()) for file in files if not str(file).startswith(_ours(NOT_SHIPPED))]
    functions = [
        node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    imports = [node for function in functions for node in ast.walk(function)]
    found = {ast.unparse(node) for node in imports if isinstance(node, ast.Import | ast.ImportFrom)}
    return sorted(one for one in found if not one.startswith(("from sluice", *WHERE_INSTALLED)))


def _ours(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(PROJECT / name) for name in names)


def test_every_module_is_imported_and_makes_the_same_dags(oldest, tmp_path):
    statements = late_imports()
    assert {"from lxml import etree", "from alembic import command"} <= {*statements}
    done = oldest.run("python", "-c", IMPORTING, *statements, env=environment_of_dags(tmp_path), seconds=600)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()[-1].split()) == DAGS


def test_the_products_own_tests_pass(oldest):
    left_out = [f"--ignore={one}" for one in _ours(tuple(f"tests/{name}" for name in FOR_DEVELOPERS))]
    words = ["-q", "-m", "not full", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider", "-o", "addopts="]
    asked = _ours(tuple(f"tests/{name}" for name in THEIR_USES))
    done = oldest.run("python", "-m", "pytest", *words, *left_out, *asked, env=clean(), seconds=1800)
    assert done.returncode == 0, done.stdout
