"""Makes in an Airflow of others what our DAGs need there: pools, and a file of two lines in the DAG folder.

`python -m sluice_airflow.init`; the configuration is the one in force. What is there already stays, but for pools that
are too small.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from airflow.configuration import conf
from sqlalchemy.exc import SQLAlchemyError

from sluice.config import configuration_text, pools
from sluice_airflow.metadata import refuse
from sluice_airflow.variables import read_configuration

_FILE = "sluice_replication.py"
_PACKAGE, _FUNCTION = "sluice_airflow_dags", "sluice_dags"
_LINES = f"from {_PACKAGE} import {_FUNCTION}\n{_FUNCTION}({{file!r}})\n"


def main() -> None:
    """Make them, and say what was made."""
    from airflow.models import Pool
    from airflow.utils.session import create_session

    settings = read_configuration()
    with create_session() as session:
        for name, number in pools.slots(settings).items():
            pool = Pool.get_pool(name, session=session)
            if pool is None or pool.slots < number:
                Pool.create_or_update_pool(name, number, "Sluice", include_deferred=False, session=session)
                print(f"made: the pool {name}, with as many slots as {configuration_text.place()} needs: {number}")
    _dag_file(Path(conf.get("core", "dags_folder")))


def _dag_file(folder: Path) -> None:
    """Make the DAG file, unless one there makes the DAGs of the configuration in force.

    Raises:
        SystemExit: one makes those of another configuration, whose ids may be the same.
    """
    ours = configuration_text.absolute(configuration_text.place())
    others: dict[str, Path] = {}
    for file in sorted(folder.rglob("*.py")):
        for named in _configurations(file):
            if named in (None, ours):
                print(f"there: the DAG file {file}")
                return
            others[named] = file
    for named, file in others.items():
        sys.exit(
            f"the DAG file {file} makes the DAGs of {named}, and the configuration in force is {ours}: "
            "remove the file, or write a second one by hand if its DAGs are to have another prefix"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _FILE).open("x", encoding="utf-8") as made:
        made.write(_LINES.format(file=ours))
    print(f"made: the DAG file {folder / _FILE}")


def _configurations(file: Path) -> Iterator[str | None]:
    """The configurations whose DAGs a file makes by `sluice_dags`; None is one that the text does not name."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    try:
        module = ast.parse(text if _FUNCTION in text else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    nodes = list(ast.walk(module))
    called = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == _PACKAGE and not node.level
        for alias in node.names
        if alias.name == _FUNCTION
    }
    packages = (alias for node in nodes if isinstance(node, ast.Import) for alias in node.names)
    called |= {f"{alias.asname or alias.name}.{_FUNCTION}" for alias in packages if alias.name == _PACKAGE}
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) in called:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            named = given[0].value if given and isinstance(given[0], ast.Constant) else None
            yield None if named is None else configuration_text.absolute(str(named))


if __name__ == "__main__":
    try:
        main()
    except SQLAlchemyError as error:
        refuse(error)
    except OSError as error:
        sys.exit(str(error))
