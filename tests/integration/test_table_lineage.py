"""The lineage of a replication: which table of the slave has the rows of which table of the master."""

from __future__ import annotations

import json

import pytest
from support.world import SOURCE

from sluice.model.names import TableName
from sluice.shell import LINEAGE_ENV
from sluice.spark import lineage

pytestmark = [pytest.mark.postgres]
DDL = """CREATE TABLE legs (id int PRIMARY KEY, fare text, note text); CREATE TABLE plain (id int);
    CREATE TABLE own (id int)"""


def said(capsys) -> list[dict]:
    lines = capsys.readouterr().out.splitlines()
    return [json.loads(line)["lineage"] for line in lines if line.startswith('{"lineage"')]


def test_each_table_has_its_origin_with_the_columns_that_the_log_knows(build, monkeypatch, capsys):
    world = build(DDL, ["public.*"])
    entries = {"public.legs": {"as": "public.routes", "columns": {"fare": "price"}, "exclude_columns": ["note"]}}
    world.configure(lambda plain: plain["slaves"]["zurich"].update(tables={**entries, "public.own": {"exclude": True}}))
    world.master.execute("INSERT INTO legs VALUES (1, 'a', 'b')")
    world.publish()
    lineage.tell(world.context, SOURCE, ["zurich"])
    assert said(capsys) == [], "nobody wants to know"
    monkeypatch.setenv(LINEAGE_ENV, "1")
    lineage.tell(world.context, SOURCE, ["zurich"])
    lineage.tell(world.context, SOURCE, ["zurich"], [TableName("public", "plain")])
    every, one = said(capsys)

    def named(database: str, table: str) -> dict[str, str]:
        info = world.infos[database]
        return {"namespace": f"postgres://{info.host or 'localhost'}:{info.port}", "name": f"{info.database}.{table}"}

    plain = {"master": named("master", "public.plain"), "slave": named("zurich", "public.plain"), "columns": []}
    legs = {
        "master": named("master", "public.legs"),
        "slave": named("zurich", "public.routes"),
        "columns": [["id", "id"], ["price", "fare"]],
    }
    assert (every, one) == ([legs, plain], [plain])
