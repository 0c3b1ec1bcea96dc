"""Servers are known by the versions that they say: what is no MariaDB and no MySQL is none, whatever it looks like."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sluice.errors import ConfigError
from sluice.vendors.mariadb.capture.binlog.server import end_of
from sluice.vendors.mariadb.server import MARIADB, MYSQL, server_of, writer_of


@pytest.mark.parametrize(
    ("version", "server"),
    [
        ("10.11.6-MariaDB-0+deb12u1", MARIADB),
        ("11.4.5-MariaDB-log", MARIADB),
        ("5.5.5-10.6.22-MariaDB-log", MARIADB),
        ("10.5.23-MariaDB", None),
        ("9.7.4-2", MYSQL),
        ("8.4.0", MYSQL),
        ("8.4.4-google", MYSQL),
        ("8.0.31-google", MYSQL),
        ("8.0.40-azure", MYSQL),
        ("8.0.36-28.1-log", MYSQL),
        ("8.0.mysql_aurora.3.08.2", MYSQL),
        ("5.7.44", None),
        ("8.0.11-TiDB-v8.5.0", None),
        ("8.0.30-Vitess", None),
        ("5.7.25-OceanBase_CE-v4.3", None),
        ("none", None),
    ],
)
def test_a_server_is_known_by_its_version(version, server):
    assert server_of(version) == server


def test_a_server_that_says_a_plain_version_is_known_by_its_comment():
    assert server_of("8.0.33", "Dolt") is None
    assert server_of("8.0.33", "Source distribution") is MYSQL


def test_what_a_server_lacks_is_not_asked_for():
    newest = MYSQL.with_variables(MYSQL.optional)
    assert newest == MYSQL
    of_8_0 = MYSQL.with_variables({"log_replica_updates"})
    assert of_8_0.is_captured
    assert not of_8_0.logs_actions
    assert of_8_0.adds_keys == ("sql_require_primary_key",)
    assert {*MYSQL.pinned} - {*of_8_0.pinned} == {("show_gipk_in_create_table_and_information_schema", "1")}
    assert {*MYSQL.log_settings} - {*of_8_0.log_settings} == {"innodb_native_foreign_keys"}
    assert not MYSQL.with_variables(()).is_captured
    assert MARIADB.with_variables(()) == MARIADB


def test_a_log_of_an_earlier_version_has_no_actions_of_foreign_keys():
    for version, logs in (("8.4.4-google", False), ("9.6.0", False), ("9.7.4-2", True), ("10.0.1", True)):
        assert writer_of(version, MYSQL).logs_actions is logs, version
    assert writer_of("11.8.2-MariaDB-log", MARIADB) == MARIADB
    folding = replace(MARIADB, folds=True)
    assert writer_of("11.8.2-MariaDB-log", folding) == writer_of("none", folding) == folding


def test_a_server_is_asked_whether_its_log_has_what_it_takes_over_from_another_one():
    assert MARIADB.leaves_applied
    assert "log_replica_updates" in MYSQL.log_settings
    assert not MYSQL.leaves_applied


@pytest.mark.parametrize(
    ("filters", "match"),
    [
        (("shop,mail", ""), "binlog_do_db is shop,mail"),
        (("", "mail", "uuid:1-7"), "binlog_ignore_db is mail"),
    ],
    ids=["some", "all but some"],
)
def test_a_log_without_some_databases_is_refused(filters, match):
    with pytest.raises(ConfigError, match=rf"(?s)SLC-400.*{match}.*\[mysqld\]"):
        end_of(("binlog.000001", "4", *filters))
    assert str(end_of(("binlog.000001", "4", "", "", "uuid:1-7"))) == "binlog.000001:4"
