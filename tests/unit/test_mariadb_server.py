"""Servers are known by the versions that they say: what is no MariaDB and no MySQL is none, whatever it looks like."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sluice.errors import ConfigError
from sluice.vendors.mariadb.capture.binlog.server import end_of
from sluice.vendors.mariadb.server import MARIADB, MYSQL, server_of

NATIVE = replace(MYSQL, logs_actions=False, log_settings=MYSQL.log_settings[:-1])
OLD = replace(NATIVE, is_captured=False)


@pytest.mark.parametrize(
    ("version", "server"),
    [
        ("10.11.6-MariaDB-0+deb12u1", MARIADB),
        ("11.8.2-MariaDB", MARIADB),
        ("10.6.22-MariaDB-log", None),
        ("9.7.4-2", MYSQL),
        ("8.4.0", NATIVE),
        ("8.3.0", OLD),
        ("8.0.17", OLD),
        ("8.0.16", None),
        ("5.7.44", None),
        ("8.0.11-TiDB-v8.5.0", None),
        ("8.0.30-Vitess", None),
        ("5.7.25-OceanBase_CE-v4.3", None),
    ],
)
def test_a_server_is_known_by_its_version(version, server):
    assert server_of(version) == server


def test_a_server_is_asked_whether_its_log_has_what_it_takes_over_from_another_one():
    assert MARIADB.leaves_applied
    for version in ("8.4.0", "9.7.4-2"):
        found = server_of(version)
        assert found
        assert "log_replica_updates" in found.log_settings
        assert not found.leaves_applied


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
