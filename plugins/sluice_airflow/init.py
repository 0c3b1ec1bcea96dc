"""Makes in an Airflow of others what our DAGs need there: pools, and a file of two lines in the DAG folder.

`python -m sluice_airflow.init`; the configuration is the one in force. What is there already stays, but for pools that
are too small.
"""

from __future__ import annotations

import sys
from pathlib import Path

from airflow.configuration import conf
from sqlalchemy.exc import SQLAlchemyError

from sluice.config import configuration, pools

_FILE = "sluice_replication.py"
_LINES = "from sluice_airflow_dags import sluice_dags\nsluice_dags({file!r})\n"


def main() -> None:
    """Make them, and say what was made."""
    from airflow.models import Pool
    from airflow.utils.session import create_session

    settings = configuration.load()
    with create_session() as session:
        for name, number in pools.slots(settings).items():
            pool = Pool.get_pool(name, session=session)
            if pool is None or pool.slots < number:
                Pool.create_or_update_pool(name, number, "Sluice", include_deferred=False, session=session)
                print(f"made: the pool {name}, with as many slots as {configuration.path()} needs: {number}")
    _dag_file(Path(conf.get("core", "dags_folder")))


def _dag_file(folder: Path) -> None:
    for file in folder.rglob("*.py"):
        if file.is_file() and "\nsluice_dags(" in file.read_text(encoding="utf-8", errors="replace"):
            print(f"there: the DAG file {file}")
            return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _FILE).open("x", encoding="utf-8") as made:
        made.write(_LINES.format(file=str(configuration.path().absolute())))
    print(f"made: the DAG file {folder / _FILE}")


if __name__ == "__main__":
    try:
        main()
    except (SQLAlchemyError, OSError) as error:
        # The last line of the first kind is an address of its documentation.
        sys.exit(str(getattr(error, "orig", None) or error).strip().splitlines()[0])
