"""PostgreSQL's own programs that export and import, and how libpq tells programs where a database is."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from psycopg import pq

from sluice import pooler
from sluice.connections import ConnectionInfo
from sluice.libpq import REQUIRED_SINCE, database_id, is_refused_by_client, parameters
from sluice.model.names import TableName
from sluice.tls import client_error
from sluice.vendors.postgresql.catalog.definition import regclass
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import composed, connect, plain_id
from sluice.vendors.protocol.load import Programs

_SETTINGS = ["statement_timeout=0", "idle_in_transaction_session_timeout=0"]


def environment(info: ConnectionInfo, application: str, directory: Path, silent: bool) -> Mapping[str, str]:
    """See `sluice.vendors.protocol.load.Programs`."""
    how = parameters(info, application)
    options = _SETTINGS + (["session_replication_role=replica"] if silent else [])
    if not pooler.is_proven(how):
        how["options"] = " ".join(f"-c {setting}" for setting in options)
    elif silent:
        raise pooler.refusal(database_id(info), "takes no `options` of programs, whose rows would fire triggers")
    # PostgreSQL manual, "The Password File". A variable with the password could be read by others of this user.
    passwords = directory / "passwords"
    passwords.touch(0o600, exist_ok=False)
    passwords.write_text(f"*:*:*:*:{_escaped(how.pop('password'))}\n", encoding="utf-8")
    how["passfile"] = passwords
    variables = {one.keyword.decode(): one.envvar.decode() for one in pq.Conninfo.get_defaults() if one.envvar}
    return {variables[keyword]: str(value) for keyword, value in how.items() if keyword in variables}


def size(info: ConnectionInfo, tables: Sequence[TableName]) -> int:
    """The size of these tables in bytes, without TOAST, including uncommitted rows.

    Raises:
        TransientError: SLC-036, a program has one of them locked.
    """
    with translated("looking how far programs are"), connect(info, "progress", autocommit=True) as session:
        session.execute("SET lock_timeout = '1s'")
        row = session.execute(composed("read/size"), {"tables": list(map(regclass, tables))}).fetchone()
    return int(row[0]) if row else 0


def expect_safe(info: ConnectionInfo, command: Sequence[str]) -> None:
    """See that a program of PostgreSQL obeys PGREQUIREAUTH where it gets that. Programs of others are not looked at.

    Raises:
        SluiceError: SLC-684, it is too old.
    """
    name = Path(command[0]).name
    if not (name.startswith(("pg_", "psql")) and is_refused_by_client(info)):
        return
    # Our environment has variables that open our connections: the program gets none of them.
    env = {variable: os.environ[variable] for variable in ("PATH", "LD_LIBRARY_PATH") if variable in os.environ}
    said = subprocess.run([command[0], "--version"], env=env, capture_output=True, text=True, check=False).stdout
    # It has the libpq of its version, or a later one.
    version = re.search(r"\) (\d+)", said)
    if version and int(version[1]) < REQUIRED_SINCE:
        raise client_error(
            database_id(info),
            f"{name} {version[1]}",
            f"name {name} of PostgreSQL {REQUIRED_SINCE} or later by its path in `initial_program`",
        )


def _escaped(password: str) -> str:
    return password.replace("\\", "\\\\").replace(":", "\\:")


# A partition's rows go to where the slave keeps the table's. Sequences follow by themselves.
EXPORTING = Programs(
    (
        *("pg_dump", "--snapshot={snapshot}", "--format=custom", "--compress=none", "--data-only"),
        *("--load-via-partition-root", "--table={relation}", "--exclude-table-data={sequence}"),
    ),
    environment,
    regclass,
    expect_safe,
    plain_id,
)
# What comes of an archive that ends too early is rolled back.
IMPORTING = Programs(
    ("pg_restore", "--data-only", "--single-transaction", "--exit-on-error", "--dbname={database}"),
    environment,
    regclass,
    expect_safe,
)
