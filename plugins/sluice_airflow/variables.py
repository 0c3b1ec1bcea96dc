"""Airflow Variables: the configuration may be one. `python -m sluice_airflow.variables NAME` prints it."""

from __future__ import annotations

import os
import sys
import warnings

from sluice.config import configuration, configuration_text
from sluice.config.configuration import Config
from sluice_airflow.metadata import expect_database


def read(name: str) -> str | None:
    """The text of a Variable, as this process of Airflow gets it; None if Airflow gives none."""
    # Airflow and its local settings may print when they are imported.
    from airflow.models import Variable

    with warnings.catch_warnings():
        # In a task Airflow asks its SDK itself, and says that we should. At a shell the SDK finds no database.
        warnings.simplefilter("ignore", DeprecationWarning)
        value = Variable.get(name, default_var=None)
    return None if value is None else str(value)


def read_configuration() -> Config:
    """The configuration in force, wherever it is. Raises ConfigError SLC-002."""
    configuration_text.hand_over(configuration_text.place(), read)
    return configuration.load()


def main() -> None:
    """Print the text of the Variable that the command line names; nothing if there is none."""
    # Airflow logs to stdout: from here on that is stderr.
    stdout = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(stdout, "w", encoding="utf-8") as output:
        if (text := read(sys.argv[1])) is None:
            expect_database()
        output.write(text or "")


if __name__ == "__main__":
    main()
