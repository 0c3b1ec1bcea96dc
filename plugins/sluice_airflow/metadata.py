"""Airflow's own database: Airflow passes over its errors when it looks for connections and Variables."""

from __future__ import annotations

import sys
from typing import NoReturn

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from sluice.connections import NO_DATABASE


def expect_database() -> None:
    """End this process, with the reason on stderr, if Airflow's database cannot be read."""
    from airflow.models import Connection
    from airflow.utils.session import create_session

    try:
        with create_session() as session:
            session.execute(select(Connection.conn_id).limit(1)).first()
    except SQLAlchemyError as error:
        refuse(error)


def refuse(error: SQLAlchemyError) -> NoReturn:
    """End this process for an error of Airflow's database."""
    # What follows the first line of it is an address of a documentation.
    print(str(getattr(error, "orig", None) or error).strip().splitlines()[0], file=sys.stderr)
    sys.exit(NO_DATABASE)
