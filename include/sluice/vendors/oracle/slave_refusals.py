"""Features of Sluice that a slave on Oracle has not, refused by name before anything is written."""

from __future__ import annotations

import oracledb

from sluice import shell
from sluice.errors import CommandRefused, ConfigError, SluiceError
from sluice.model.names import Pair, TableName
from sluice.vendors.oracle.capture.queue.sweep import newest_scn
from sluice.vendors.oracle.errors import NO_RIGHT, code_of
from sluice.vendors.oracle.grants import missing
from sluice.vendors.oracle.names import composed
from sluice.vendors.oracle.session import execute, numbers

# The first with private temporary tables.
OLDEST = (18,)
_CHARACTER_SET = "AL32UTF8"


def not_supported(pair: Pair, what: str, hint: str) -> SluiceError:
    """A setting or a command that such a slave does not know."""
    return SluiceError(438, f"slave {pair.slave} is on Oracle, where {what} is not supported", hint)


def not_altered(table: TableName, why: str) -> SluiceError:
    """An ALTER of the master that Oracle cannot do to a table as it is."""
    return CommandRefused(
        140,
        f"the master's ALTER of {table} cannot be carried out on Oracle: {why}",
        f"nothing of it was written. Do there by hand what the master did, which is then passed over; or drop {table} "
        "there and let initial_update make and fill it as it is now; or set `alters: ignore` of the replication",
    )


def expect_fit(session: oracledb.Connection, pair: Pair, schema: str) -> None:
    """See that a server can be a slave, and that our tables come into the schema of the connection's user.

    Raises:
        SluiceError: SLC-430, it cannot; SLC-033, the user may not ask for the change number.
        ConfigError: SLC-523, they would be in another one.
    """
    ((characters,),) = execute(session, composed("catalog/character_set"))
    why = ""
    if numbers(session.version) < OLDEST:
        why = f"Oracle {session.version}, which has no private temporary tables, so staging a batch would commit"
    elif characters != _CHARACTER_SET:
        why = f"a database with the character set {characters}, which does not have every character"
    if why:
        raise SluiceError(
            430,
            f"the server of slave {pair.slave} is {why}",
            f"nothing was written; point the connection at Oracle {OLDEST[0]} or later with {_CHARACTER_SET}",
        )
    ((user,),) = execute(session, composed("position/user"))
    _expect_change_number(session, pair, str(user))
    if schema != user:
        raise _of_another(pair, f"has its position tables in the schema {schema}", str(user), "`schema`")


def expect_rights(session: oracledb.Connection, pair: Pair) -> None:
    """See that tables and stages can be made, before others are emptied. Raises SluiceError SLC-033."""
    if lacking := missing(session, ["CREATE TABLE"]):
        raise SluiceError(
            33,
            f"the user of slave {pair.slave} lacks {' and '.join(lacking)}",
            f"nothing was written; let a DBA run the script of `{shell.sluice('grants', pair.slave, '--slave')}`",
        )


def _expect_change_number(session: oracledb.Connection, pair: Pair, user: str) -> None:
    """See that a comparison can read the slave at a point, without which an initial update never ends (R10)."""
    try:
        newest_scn(session)
    except oracledb.DatabaseError as error:
        if code_of(error) not in NO_RIGHT:
            raise
        raise SluiceError(
            33,
            f"the user {user} of slave {pair.slave} may not ask for the newest change number, as of which a comparison "
            "reads the slave",
            "nothing was written; let a DBA run the script of "
            f"`{shell.sluice('grants', pair.slave, '--slave')}`, which has GRANT EXECUTE ON sys.dbms_flashback",
        ) from error


def expect_own(pair: Pair, schema: str, table: TableName) -> None:
    """See that a table is in the schema of the connection's user, who alone sees which triggers act on it.

    Raises:
        ConfigError: SLC-523.
    """
    if table.schema != schema:
        raise _of_another(pair, f"would write {table}", schema, "`schemas`")


def _of_another(pair: Pair, what: str, user: str, setting: str) -> ConfigError:
    return ConfigError(
        523,
        f"slave {pair.slave} {what}, and its connection is that of the user {user}, who does not see the triggers on "
        "tables of others",
        f"nothing was written; set {setting} of the slave so that it leads to {user}, in capitals as in the catalog",
    )


def expect_same_transaction(before: object, after: object, stage: str) -> None:
    """See that making a stage has not ended the transaction that it is in (R3). Raises SluiceError SLC-524."""
    if before != after:
        raise SluiceError(
            524,
            f"making the private temporary table {stage} has ended the transaction of the batch",
            "keep the slave paused, and report it with the server's version; fill it anew by initial_update",
        )
