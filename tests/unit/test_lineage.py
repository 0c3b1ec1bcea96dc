"""How lineage names tables: by OpenLineage's rules, and without a word of who may log in."""

from __future__ import annotations

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
        ("parquet", info("", path="/lake"), "file", "/lake/zurich/flights/data/public.legs"),
        ("iceberg", info("", path="/lake"), "file", "/lake/zurich/flights/data/public.legs"),
    ],
)
def test_a_table_is_named_by_its_server_and_never_by_who_logs_in(kind, connection, namespace, name):
    found = vendor(kind).dataset(connection, PAIR, NAME)
    assert (found.namespace, found.name) == (namespace, name)
    assert "canary" not in f"{found}"
