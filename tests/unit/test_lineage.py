"""Lineage: names of tables by OpenLineage's rules, without a word of who may log in, and of tables that were filled."""

from __future__ import annotations

from argparse import Namespace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from unittest.mock import Mock

import pytest

from sluice.connections import ConnectionInfo
from sluice.model.names import Pair, TableName
from sluice.vendors.registry import vendor

PAIR = Pair("flights", "zurich")
NAME = TableName("public", "legs")


def info(host="db1", port=None, database="shop", **extra):
    return ConnectionInfo("any", host, port, database, "canary-login", "canary-password", extra)


@pytest.mark.parametrize(
    ("kind", "connection", "namespace", "name"),
    [
        ("postgresql", info(), "postgres://db1:5432", "shop.public.legs"),
        ("postgresql", info("db1, db2", 6543), "postgres://db1:6543", "shop.public.legs"),
        ("postgresql", info("/var/run/postgresql"), "postgres://localhost:5432", "shop.public.legs"),
        ("postgresql", info("fe80::1"), "postgres://[fe80::1]:5432", "shop.public.legs"),
        ("postgresql", info("canary-login:canary-password@db1"), "postgres://db1:5432", "shop.public.legs"),
        ("gaussdb", info(port=8000), "gaussdb://db1:8000", "shop.public.legs"),
        ("mariadb", info(), "mysql://db1:3306", "public.legs"),
        ("oracle", info(), "oracle://db1:1521", "shop.public.legs"),
        ("oracle", info(database="", service_name="SALES"), "oracle://db1:1521", "SALES.public.legs"),
        ("oracle", info("", dsn="tcps://db2:2484/SALES?k=canary-password"), "oracle://db2:2484", "SALES.public.legs"),
        ("oracle", info("", dsn="db2:2484/SALES:dedicated/N1"), "oracle://db2:2484", "SALES.public.legs"),
        ("oracle", info("", dsn="db2,db3:2484/SALES"), "oracle://db2:2484", "SALES.public.legs"),
        ("oracle", info(dsn="canary-login/canary-password@db2:2484/SALES"), "oracle://db1:1521", "shop.public.legs"),
        ("oracle", info(dsn="canary-login/canary?password@db2:2484/SALES"), "oracle://db1:1521", "shop.public.legs"),
        ("parquet", info("", path="/lake"), "file", "/lake/zurich/flights/data/public.legs"),
        ("iceberg", info("", path="/lake"), "file", "/lake/zurich/flights/data/public.legs"),
    ],
)
def test_a_table_is_named_by_its_server_and_never_by_who_logs_in(kind, connection, namespace, name):
    found = vendor(kind).dataset(connection, PAIR, NAME)
    assert (found.namespace, found.name) == (namespace, name)
    assert "canary" not in f"{found}"


def test_blocks_tell_the_tables_of_their_update_alone_and_no_slave_that_failed(monkeypatch):
    spec = spec_from_file_location("job_blocks", Path(__file__).resolve().parents[2] / "spark_jobs" / "blocks.py")
    job = module_from_spec(spec)
    spec.loader.exec_module(job)
    done = {"rows": {"zurich": 3, "geneva": 0, "bern": 7}, "filled": {"zurich": 4, "bern": 5}}
    tables = {4: frozenset({NAME}), 5: frozenset()}
    told = []
    monkeypatch.setattr(job, "load_online", lambda *arguments: done)
    monkeypatch.setattr(job.updates, "tables", lambda store, number: tables[number])
    monkeypatch.setattr(job.lineage, "tell", lambda context, *what: told.append(what))
    assert job.work(Mock(), Namespace(source="flights", slaves=["zurich", "geneva", "bern"])) == done
    assert told == [("flights", ["zurich"], {NAME}), ("flights", ["bern"], frozenset())]
