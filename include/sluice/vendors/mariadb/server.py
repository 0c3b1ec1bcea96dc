"""A server, by what it can do: asked for when a session begins, and used where statements are made (R7)."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Its packages add a number. TiDB, Vitess and others say a version of MySQL with their name behind it.
_MYSQL = re.compile(r"(\d+)\.(\d+)\.(\d+)(-\d[\w.~+]*)?")
_MARIADB_SINCE = (10, 11)
# utf8mb4_0900_bin is there since that one.
_MYSQL_SINCE = (8, 0, 17)


@dataclass(frozen=True)
class Server:
    """What statements for a server are made from.

    Attributes:
        name: of its kind, for messages.
        collation: of texts that differ wherever one byte does, also in blanks at their end.
        isolation: the variable with the isolation of transactions.
        time_out: the variable with the time-out of a statement, which is one of our settings.
        no_time_out: its value for none, as the server shows it.
        pauses_checks: whether a session can leave checks out.
        shows_width: whether the catalog says with how many signs whole numbers are shown.
        waits_for_one: whether a setting can be given to one statement alone.
        has_long_defaults: whether a literal can be the default of a long text; else only an expression.
        undoes_unlogged: whether commits are asked for that are in its binary log for sure, where it has one.
        is_captured: whether it can be a master.
    """

    name: str
    collation: str
    isolation: str
    time_out: str
    no_time_out: str
    pauses_checks: bool
    shows_width: bool
    waits_for_one: bool
    has_long_defaults: bool
    undoes_unlogged: bool
    is_captured: bool

    def whole_number(self, name: str, width: int) -> str:
        """A type of whole numbers, as the catalog writes it."""
        return f"{name}({width})" if self.shows_width else name

    @property
    def must_be_off(self) -> tuple[str, ...]:
        """Settings by which it would refuse tables as the master has them, or make others; only administrators may
        change them in a session."""
        return () if self.is_captured else ("sql_require_primary_key", "sql_generate_invisible_primary_key")

    @property
    def pinned(self) -> tuple[tuple[str, str], ...]:
        """The settings of its sessions, as it shows them. Values are taken as they are, or refused (R7). The texts of
        times do not depend on a zone."""
        checks = (("check_constraint_checks", "1"),) if self.pauses_checks else ()
        return (
            (
                "sql_mode",
                "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
                "NO_ENGINE_SUBSTITUTION",
            ),
            ("time_zone", "+00:00"),
            (self.isolation, "REPEATABLE-READ"),
            ("innodb_lock_wait_timeout", "60"),
            ("lock_wait_timeout", "60"),
            ("foreign_key_checks", "1"),
            ("unique_checks", "1"),
            *checks,
            ("sql_safe_updates", "0"),
            ("sql_auto_is_null", "0"),
            # No rows are left out.
            ("sql_select_limit", "18446744073709551615"),
            (self.time_out, self.no_time_out),
            ("character_set_client", "utf8mb4"),
            ("character_set_results", "utf8mb4"),
            ("collation_connection", self.collation),
        )


MARIADB = Server(
    name="MariaDB",
    collation="utf8mb4_nopad_bin",
    isolation="tx_isolation",
    time_out="max_statement_time",
    no_time_out="0.000000",
    pauses_checks=True,
    shows_width=True,
    waits_for_one=True,
    has_long_defaults=True,
    undoes_unlogged=False,
    is_captured=True,
)
MYSQL = Server(
    name="MySQL",
    collation="utf8mb4_0900_bin",
    isolation="transaction_isolation",
    time_out="max_execution_time",
    no_time_out="0",
    pauses_checks=False,
    shows_width=False,
    waits_for_one=False,
    has_long_defaults=False,
    undoes_unlogged=True,
    is_captured=False,
)


def server_of(version: str) -> Server | None:
    """The server that says this version; None if it is too old, or none that we know."""
    if "MariaDB" in version:
        first, second = version.split("-")[0].split(".")[:2]
        return MARIADB if (int(first), int(second)) >= _MARIADB_SINCE else None
    found = _MYSQL.fullmatch(version)
    if found is None:
        return None
    return MYSQL if tuple(int(part) for part in found.groups()[:3]) >= _MYSQL_SINCE else None
