"""A server, by what it can do: asked for when a session begins, and used where statements are made (R7)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

# Packages and clouds add words of their own: 8.0.31-google, 8.0.40-azure, 8.0.mysql_aurora.3.08.
_NUMBERS = re.compile(r"(\d+)\.(\d+)\.")
# They say a version of MySQL, too, and are another server.
_OTHERS = re.compile(
    "tidb|vitess|planetscale|oceanbase|singlestore|memsql|dolt|doris|starrocks|polardb-?x|x-cluster", re.IGNORECASE
)
# The oldest that is maintained when this is written.
_MARIADB_SINCE = (10, 6)
# What MariaDB says in front of its version to clients that take it for an old MySQL.
_OLD_CLIENTS = "5.5.5-"
_MYSQL_SINCE = 8
# InnoDB does not carry out the actions of foreign keys by itself any more.
_MYSQL_ACTIONS_SINCE = (9, 7)
# Variables that not every MySQL has: since 9.7, 8.0.26, and the others since 8.0.30.
_NATIVE_KEYS, _APPLIED = "innodb_native_foreign_keys", "log_replica_updates"
_UNSEEN = "sql_generate_invisible_primary_key"
_SHOWS_UNSEEN = "show_gipk_in_create_table_and_information_schema"
# How long a session that does nothing, or whose client is slow, is kept: as long as servers can. Their network tells
# them of a client that is gone.
_A_YEAR = "31536000"
# The same for transactions.
_IDLE = ("idle_transaction_timeout", "idle_readonly_transaction_timeout", "idle_write_transaction_timeout")


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
        ends_idle: whether it ends sessions whose transaction does nothing.
        shows_width: whether the catalog says with how many signs whole numbers are shown.
        waits_for_one: whether a setting can be given to one statement alone.
        has_long_defaults: whether a literal can be the default of a long text; else only an expression.
        undoes_unlogged: whether commits are asked for that are in its binary log for sure, where it has one.
        is_captured: whether it can be a master.
        adds_keys: settings by which it would refuse tables as the master has them, or make others; only administrators
            may change them in a session.
        log_status: statements for the end of its log, of which it knows one.
        optional: variables that it may lack, see `with_variables`.
        log_settings: the variables that decide what is in its log.
        leaves_applied: whether by default its log has nothing of what it takes over from another server.
        identity: the variable that no two servers with one log have in common.
        tells_snapshots: whether a session can ask for the place in the log of its snapshot.
        issues_statements: whether a transaction can end by itself whose client is gone, so that a statement for every
            node locks nobody out for long.
        collations: tables with the numbers of collations, of which the first may lack them.
        has_documents: whether JSON is a type of its own, which writes texts anew.
        logs_actions: whether the log has what foreign keys with CASCADE and SET NULL change.
        lettered_shapes: whether the log has collations of geometric values.
        own_comments: whether a comment that begins with `M!` is a part of a statement.
        shows: variables that let the catalog show columns which it may leave out.
        folds: whether it writes names of databases and tables in lower case, whatever is said.
    """

    name: str
    collation: str
    isolation: str
    time_out: str
    no_time_out: str
    pauses_checks: bool
    ends_idle: bool
    shows_width: bool
    waits_for_one: bool
    has_long_defaults: bool
    undoes_unlogged: bool
    is_captured: bool
    adds_keys: tuple[str, ...]
    log_status: tuple[str, ...]
    optional: tuple[str, ...]
    log_settings: tuple[str, ...]
    leaves_applied: bool
    identity: str
    tells_snapshots: bool
    issues_statements: bool
    collations: tuple[str, ...]
    has_documents: bool
    lettered_shapes: bool
    logs_actions: bool
    own_comments: bool
    shows: tuple[str, ...] = ()
    folds: bool = False

    def whole_number(self, name: str, width: int) -> str:
        """A type of whole numbers, as the catalog writes it."""
        return f"{name}({width})" if self.shows_width else name

    def with_variables(self, names: Collection[str]) -> Server:
        """The same server, of the variables that it may lack, with these alone."""
        lacking = {*self.optional} - {*names}
        return replace(
            self,
            is_captured=self.is_captured and _APPLIED not in lacking,
            logs_actions=self.logs_actions and _NATIVE_KEYS not in lacking,
            adds_keys=tuple(name for name in self.adds_keys if name not in lacking),
            shows=tuple(name for name in self.shows if name not in lacking),
            log_settings=tuple(name for name in self.log_settings if name not in lacking),
        )

    def fold(self, written: str) -> str:
        """The name that a database or a table has which a statement calls so."""
        return written.lower() if self.folds else written

    def keeps(self, *names: str) -> bool:
        """Whether databases and tables are called as they are written here."""
        return all(self.fold(name) == name for name in names)

    @property
    def pinned(self) -> tuple[tuple[str, str], ...]:
        """The settings of its sessions, as it shows them. Values are taken as they are, or refused (R7). The texts of
        times do not depend on a zone.
        """
        checks = (("check_constraint_checks", "1"),) if self.pauses_checks else ()
        idle = tuple((name, "0") for name in _IDLE) if self.ends_idle else ()
        return (
            (
                "sql_mode",
                "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
                "NO_ENGINE_SUBSTITUTION",
            ),
            ("time_zone", "+00:00"),
            (self.isolation, "REPEATABLE-READ"),
            # A statement is a transaction of its own, and the session goes on after one.
            ("autocommit", "1"),
            ("completion_type", "NO_CHAIN"),
            ("wait_timeout", _A_YEAR),
            ("net_read_timeout", _A_YEAR),
            ("net_write_timeout", _A_YEAR),
            *idle,
            ("innodb_lock_wait_timeout", "60"),
            ("lock_wait_timeout", "60"),
            ("foreign_key_checks", "1"),
            ("unique_checks", "1"),
            *checks,
            *((name, "1") for name in self.shows),
            ("sql_safe_updates", "0"),
            ("sql_auto_is_null", "0"),
            # No statement is too large, and no rows are left out.
            ("sql_big_selects", "1"),
            ("sql_select_limit", "18446744073709551615"),
            (self.time_out, self.no_time_out),
            ("character_set_client", "utf8mb4"),
            ("character_set_results", "utf8mb4"),
            ("collation_connection", self.collation),
        )


_LOG_SETTINGS = (
    "log_bin",
    "binlog_format",
    "binlog_row_image",
    "binlog_row_metadata",
    "sync_binlog",
    "innodb_flush_log_at_trx_commit",
)
_OF_MYSQL = ("binlog_transaction_compression", "binlog_row_value_options", _APPLIED, _NATIVE_KEYS)
MARIADB = Server(
    name="MariaDB",
    collation="utf8mb4_nopad_bin",
    isolation="tx_isolation",
    time_out="max_statement_time",
    no_time_out="0.000000",
    pauses_checks=True,
    ends_idle=True,
    shows_width=True,
    waits_for_one=True,
    has_long_defaults=True,
    undoes_unlogged=False,
    is_captured=True,
    adds_keys=(),
    log_status=("SHOW MASTER STATUS",),
    optional=(),
    log_settings=(*_LOG_SETTINGS, "log_bin_compress"),
    leaves_applied=True,
    identity="server_id",
    tells_snapshots=True,
    issues_statements=True,
    # The first has them since 10.10, also those of collations that several character sets have.
    collations=("information_schema.collation_character_set_applicability", "information_schema.collations"),
    has_documents=False,
    lettered_shapes=True,
    logs_actions=False,
    own_comments=True,
)
MYSQL = Server(
    name="MySQL",
    collation="utf8mb4_0900_bin",
    isolation="transaction_isolation",
    time_out="max_execution_time",
    no_time_out="0",
    pauses_checks=False,
    ends_idle=False,
    shows_width=False,
    waits_for_one=False,
    has_long_defaults=False,
    undoes_unlogged=True,
    is_captured=True,
    adds_keys=("sql_require_primary_key", _UNSEEN),
    # The old one is gone since 8.4.
    log_status=("SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"),
    optional=(_NATIVE_KEYS, _APPLIED, _UNSEEN, _SHOWS_UNSEEN),
    # Otherwise the catalog leaves out the keys that the server added, and the log has them.
    shows=(_SHOWS_UNSEEN,),
    log_settings=(*_LOG_SETTINGS, *_OF_MYSQL),
    leaves_applied=False,
    identity="server_uuid",
    tells_snapshots=False,
    issues_statements=False,
    collations=("information_schema.collations",),
    has_documents=True,
    lettered_shapes=False,
    logs_actions=True,
    own_comments=False,
)


def server_of(version: str, comment: str = "") -> Server | None:
    """The server that says this of itself, as the newest of its kind; None if it is too old, or none that we know."""
    if _OTHERS.search(f"{version} {comment}") or not (numbers := _NUMBERS.match(version.removeprefix(_OLD_CLIENTS))):
        return None
    first, second = map(int, numbers.groups())
    if "MariaDB" in version:
        return MARIADB if (first, second) >= _MARIADB_SINCE else None
    return MYSQL if first >= _MYSQL_SINCE else None


def writer_of(version: str, now: Server) -> Server:
    """The server that wrote a file of a log in this version, which may be an earlier one than runs now."""
    server = server_of(version) or now
    numbers = _NUMBERS.match(version)
    has_actions = numbers is not None and tuple(map(int, numbers.groups())) >= _MYSQL_ACTIONS_SINCE
    return replace(server, logs_actions=server.logs_actions and has_actions, folds=now.folds)
