"""A row in the server's log that the server cannot print: nothing behind it is ever read, and that is said."""

from __future__ import annotations

from contextlib import closing

import pytest
from psycopg import errors
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import StrangeSource
from sluice.state.replication import Status
from sluice.vendors.postgresql.capture.log.unprinted import expect_printed

pytestmark = [pytest.mark.postgres]

# Decoding computes this for each row. It is an error of the same kind that a row beyond 1 GB meets, and costs nothing.
BEYOND = "repeat(v, 1000000000) <> ''"


@pytest.mark.full
def test_a_row_that_no_server_prints_makes_the_slaves_inconsistent_and_the_slot_is_made_anew(build):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"], source={"capture": "log"})
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    (rows,) = world.master.execute("SELECT quote_ident(pubname) FROM pg_publication WHERE pubdelete").fetchone()
    world.master.execute(f"ALTER PUBLICATION {rows} SET TABLE ONLY t WHERE ({BEYOND})")
    world.master.execute("INSERT INTO t VALUES (2, 'long')")
    with pytest.raises(StrangeSource, match=r"SLC-404: .*prints no row beyond 1 GB"):
        world.publisher().publish(None)
    with (
        closing(world.context.source(SOURCE)) as source,
        pytest.raises(StrangeSource, match=r"SLC-404: .*prints no row beyond 1 GB"),
    ):
        source.capture.count_queued(9)
    assert world.status("zurich") is Status.NORMAL
    world.let_leases_expire()
    with pytest.raises(StrangeSource, match=r"SLC-404: .*prints no row beyond 1 GB") as told:
        world.publish()
    assert "rebase" in told.value.hint
    assert world.status("zurich") is Status.INCONSISTENT
    world.master.execute(f"ALTER PUBLICATION {rows} SET TABLE ONLY t")
    world.let_leases_expire()
    bootstrap(world.context, SOURCE, rebase=True)
    world.master.execute("INSERT INTO t VALUES (3, 'c')")
    assert world.publish()["changes"] == 1


def test_other_errors_of_a_server_stay_what_they_are():
    with pytest.raises(StrangeSource, match=r"SLC-404: .*prints no row beyond 1 GB"), expect_printed():
        raise errors.InternalError_("invalid memory alloc request size 1073741824")
    with pytest.raises(errors.InternalError_), expect_printed():
        raise errors.InternalError_("could not map filenumber to relation OID")
