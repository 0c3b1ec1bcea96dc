"""DDL of the master that commits while rows are looked for which a catalog of before told of: that passes (R10)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from support.updating import compare_here
from support.world import SOURCE

from sluice.errors import RowsDiffer, TransientError
from sluice.model.names import TableName
from sluice.repair.run import RepairRequest, repair
from sluice.state.replication import Status
from sluice.vendors.postgresql.read import rows
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

ALTERS = {
    "dropped": "DROP COLUMN v",
    "named": "RENAME COLUMN v TO w",
    "renamed": "RENAME TO renamed_since",
    "added": "ADD COLUMN c int DEFAULT 5",
    "typed": "ALTER COLUMN v TYPE varchar(90)",
    "moved": "SET SCHEMA elsewhere",
}
MADE = "CREATE TABLE {0} (id int PRIMARY KEY, v text); INSERT INTO {0} SELECT g, 'x' FROM generate_series(1, 50) AS g;"


def altered(world, name):
    statement = "DROP TABLE gone" if name == "gone" else f"ALTER TABLE {name} {ALTERS[name]}"
    world.session().execute(statement.encode())


def test_a_comparison_is_tried_again_and_never_ends_for_good(updating):
    tables = [*ALTERS, "gone"]
    ddl = "CREATE SCHEMA elsewhere;" + "".join(map(MADE.format, tables))
    world = updating(ddl, [f"public.{name}" for name in tables], {}, slaves=("zurich",))
    world.update()

    def compared(name):
        once = iter([name])

        def compare(jobs):
            if found := next(once, None):
                altered(world, found)
            return compare_here(jobs)

        request = VerifyRequest(SOURCE, ("zurich",), (TableName("public", name),), initial=name == "dropped")
        with world.running():
            return verify(world.context, request, compare, 60)

    for name in tables:
        with suppress(TransientError):
            compared(name)
        assert world.status("zurich") is not Status.INCONSISTENT, name
    assert world.verify() == {"zurich": 0}


def test_a_repair_is_put_off_and_ends_with_what_is_left(updating, monkeypatch):
    world = updating(MADE.format("named"), ["public.named"], {}, slaves=("zurich",))
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    world.reader("zurich").execute("UPDATE named SET v = 'harm' WHERE id < 3")
    with pytest.raises(RowsDiffer):
        world.verify()
    keyed, once = rows.PostgresReading.keyed, iter(["named"])

    def late(self, *given):
        if found := next(once, None):
            altered(world, found)
        return keyed(self, *given)

    monkeypatch.setattr(rows.PostgresReading, "keyed", late)
    request = RepairRequest(SOURCE, "zurich")
    with world.running(), pytest.raises(Exception, match=r"SLC-466.*it was altered|SLC-095") as told:
        repair(world.context, request, compare_here, 60)
    assert "SLC-039" not in str(told.value)
