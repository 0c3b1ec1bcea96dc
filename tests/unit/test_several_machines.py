"""What several machines need, as the configuration and the connections of one of them tell it."""

from __future__ import annotations

import pytest

from sluice.config.configuration_text import CONFIG_ENV
from sluice.connections import KEY_FILE_ENV, ConnectionInfo, new_key_file
from sluice.context import Context
from sluice.monitor.several_machines import as_table, needs
from sluice.paths import HOME_ENV

CONFIG = """
change_log: {log}
sources:
  shop: {{connection: shop, tables: {{public.customers: {{}}}}}}
slaves:
  branch: {{connection: branch}}
  lake: {{connection: lake, initial_files: {{location: carried}}}}
replications:
  - {{source: shop, slave: branch}}
"""


@pytest.fixture
def look(read, tmp_path, monkeypatch):
    """Looks at a change log, a Spark and a host of databases; the rows by what they are about."""
    monkeypatch.setenv(HOME_ENV, str(tmp_path))
    monkeypatch.setenv(KEY_FILE_ENV, str(tmp_path / "seal.key"))

    def look(log, spark, host):
        infos = {
            "sluice_spark": spark,
            "shop": ConnectionInfo("postgres", host, 5432),
            "branch": ConnectionInfo("postgres", "db2.example", 5432),
            "lake": ConnectionInfo("fs", extra={"path": "/srv/lake"}),
        }
        rows = list(needs(Context(read(CONFIG.format(log=log)), infos)))
        assert len(as_table(rows).splitlines()) == len(rows) + 1
        return {row.what: row for row in rows}

    return look


def test_what_is_on_one_machine_alone_is_named_with_what_to_do(look, tmp_path, monkeypatch):
    monkeypatch.setenv(CONFIG_ENV, "/etc/sluice/replication.yaml")
    rows = look("changelog", ConnectionInfo("spark_connect", "localhost", 15002), "/run/postgresql")
    bad = {what: row.there for what, row in rows.items() if not row.good}
    assert bad.keys() == {
        "configuration", "sealing key", "change log", "initial files of lake", "slave lake", "connection shop", "Spark",
    }  # fmt: skip
    assert {what for what in bad if rows[what].good is False} == {"sealing key", "connection shop", "Spark"}
    assert rows["change log"].here == str(tmp_path / "changelog")
    assert "s3://" in bad["change log"]
    assert "sluice init" in bad["sealing key"]
    assert "sluice connect shop" in bad["connection shop"]


def test_what_all_machines_reach_is_good(look, tmp_path, monkeypatch):
    monkeypatch.setenv(CONFIG_ENV, "airflow-variable:sluice")
    new_key_file(tmp_path / "seal.key")
    rows = look("s3://bucket/log", ConnectionInfo("spark", "spark://master.example", 7077), "db1.example")
    assert {what for what, row in rows.items() if not row.good} == {"initial files of lake", "slave lake"}
    # The hash is of the key, so that people can compare two machines.
    assert len(rows["sealing key"].here.rpartition(" (")[2]) == 9


@pytest.mark.parametrize(
    ("host", "kind", "good"),
    [
        ("local[4]", "spark", True),
        ("spark://localhost", "spark", False),
        ("::1", "spark_connect", False),
        ("", "spark_connect", False),
        ("connect.example", "spark_connect", True),
    ],
)
def test_a_spark_is_in_the_job_or_where_all_workers_reach_it(look, host, kind, good):
    assert look("s3://bucket/log", ConnectionInfo(kind, host, 1), "db1.example")["Spark"].good is good
