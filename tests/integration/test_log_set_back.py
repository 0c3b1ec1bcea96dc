"""A server that was set back to an earlier moment, as a snapshot of its volumes has it, gives its xids out again."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.promoting import list_only

from sluice.errors import StrangeSource
from sluice.publish import publisher
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]


def listed_as(monkeypatch, world, xid):
    """List what waits as of that transaction: one that was there before the server was set back."""
    number = publisher._OrdinalCounter.number

    def of_another(counted, batch):
        numbered = number(counted, batch)
        column = numbered.schema.get_field_index("trans_key")
        return numbered.set_column(column, "trans_key", pa.array([xid] * len(numbered)))

    with monkeypatch.context() as patch:
        patch.setattr(publisher._OrdinalCounter, "number", of_another)
        list_only(world)


def test_a_purge_is_not_repeated_where_the_log_has_another_transaction_with_the_same_id(build, monkeypatch):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], source={"capture": "log"})
    new = world.session()
    new.execute("BEGIN; INSERT INTO t VALUES (2)")
    (xid,) = new.execute("SELECT pg_current_xact_id()::text").fetchone()
    world.master.execute("INSERT INTO t VALUES (1)")
    listed_as(monkeypatch, world, xid)
    new.execute("COMMIT")
    world.let_leases_expire()
    with pytest.raises(StrangeSource, match="SLC-048"):
        world.publish()
    assert world.status("zurich") is Status.INCONSISTENT


def test_a_purge_is_repeated_of_transactions_that_lie_in_one_another(build):
    """Then the log has changes of a later commit in front of those of an earlier one, and some in one record."""
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], source={"capture": "log"})
    first, second = world.session(), world.session()
    first.execute("BEGIN; INSERT INTO t VALUES (1)")
    second.execute("BEGIN; INSERT INTO t VALUES (2)")
    with second.cursor().copy("COPY t FROM STDIN") as rows:
        rows.write("".join(f"{number}\n" for number in range(10, 300)))
    second.execute("COMMIT")
    first.execute("COMMIT")
    list_only(world)
    world.master.execute("INSERT INTO t VALUES (3)")
    world.catch_up()
    assert world.differences() == {}
    assert len(world.log()) == 293
