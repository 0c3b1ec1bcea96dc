"""The DbResources: what is missing of them, in the order in which it is made."""

from __future__ import annotations

from collections.abc import Collection

import oracledb

from sluice import sqlfiles
from sluice.errors import SluiceError
from sluice.vendors.oracle.errors import code_of, explained
from sluice.vendors.oracle.names import OracleResources, composed, parts_of
from sluice.vendors.oracle.session import Row, execute, longest_name

# Functions are made anew each time; tables, the sequence and the job are not.
_FOLDER = "capture/install"
# How the driver calls it.
COMPILED_WITH_ERRORS = "DPY-7000"
_JSON_SINCE = 21


def missing(resources: OracleResources, found: Collection[Row], version: str) -> dict[str, str]:
    """The statements that make what a schema lacks, by the names of their files.

    Args:
        found: the rows of `catalog/objects`.
    """
    there = {str(name) for kind, name, _ in found if kind in ("TABLE", "SEQUENCE", "INDEX", "JOB")}
    parts = parts_of(resources)
    made = {}
    for name in sqlfiles.names("oracle", _FOLDER):
        resource = name.removeprefix(f"{_FOLDER}/").partition("_")[2]
        resource = "items_transactions" if resource == "items_by_transaction" else resource
        if resources.name(resource) not in there:
            made[name] = composed(name, **parts)
    if int(version.split(".")[0]) >= _JSON_SINCE:
        made["capture/once/json_text"] = composed("capture/once/json_text", **parts)
    for name in ("capture/once/state", "capture/once/flushed"):
        made[name] = composed(name, **parts)
    if resources.job.table not in there:
        made["capture/once/free_job"] = composed("capture/once/free_job", **parts)
    return made


def install(session: oracledb.Connection, resources: OracleResources) -> list[str]:
    """Make what is missing; the names of what was made. Each statement of DDL commits, and may be given again.

    Raises:
        ConfigError: SLC-041.
        SluiceError: SLC-486, another user would own them; SLC-362, one does not compile.
    """
    resources.expect_short(longest_name(session.version))
    expect_own(resources, str(session.username))
    found = execute(session, composed("catalog/objects"), {"schema": resources.schema})
    made = missing(resources, found, session.version)
    for name, statement in made.items():
        make(session, resources, name, statement)
    session.commit()
    return list(made)


def make(session: oracledb.Connection, resources: OracleResources, what: str, statement: str) -> None:
    """Make one object. Raises SluiceError SLC-362, it does not compile."""
    try:
        execute(session, statement)
    except oracledb.Error as error:
        if code_of(error) == COMPILED_WITH_ERRORS:
            raise SluiceError(
                362,
                f"{what} does not compile in {resources.schema}: {error}",
                "nothing is captured yet. Look into USER_ERRORS, and report it with the server's version",
            ) from error
        raise explained(error, f"making {what}") from error


def expect_own(resources: OracleResources, login: str) -> None:
    """See that the DbResources belong to the user of the connection. Raises SluiceError SLC-486."""
    if resources.schema != (login.strip('"') if login.startswith('"') else login.upper()):
        raise SluiceError(
            486,
            f"the DbResources are to be in the schema {resources.schema}, and the connection is for the user {login}",
            "nothing was changed; let the login of the connection be the user of that name, or set `schema` of the "
            "source to it",
        )
