"""No table of the master becomes, on a slave, a table of Sluice itself or one of somebody else: who names tables on the
master would write into it (R3)."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.initial_update.inhibit import inhibit
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

POSITION = (
    "source text, slave text, segment bigint NOT NULL DEFAULT 0, ordinal bigint NOT NULL DEFAULT 0, snapshot text, "
    "epoch bigint NOT NULL DEFAULT 0, backend_pid int, PRIMARY KEY (source, slave)"
)
FORGED = "('other', 'zurich', 9, 1000000, NULL, 3, NULL)"
KEPT = "SELECT source, ordinal FROM sluice_position ORDER BY source"
IGNORED = {"alters": "ignore", "creates": "ignore", "drops": "ignore"}


def refused(world):
    world.publish()
    with pytest.raises(SluiceError) as found:
        world.drain()
    return found.value


@pytest.mark.full(but=["ignored, one to one"])
@pytest.mark.parametrize(
    ("policies", "mode"), [({}, "batch"), (IGNORED, "one_to_one")], ids=["applied", "ignored, one to one"]
)
def test_the_position_of_another_source_stays_whatever_a_table_is_called(build, policies, mode):
    world = build(f"CREATE TABLE w ({POSITION})", ["public.*"])
    world.configure(lambda settings: settings["replications"][0].update(policies, mode=mode))
    world.drain()
    zurich = world.reader("zurich")
    zurich.execute("INSERT INTO sluice_position (source, slave, segment, ordinal) VALUES ('other', 'zurich', 1, 5)")
    before = zurich.execute(KEPT).fetchall()
    world.master.execute("ALTER TABLE w RENAME TO sluice_position")
    if not policies:
        assert refused(world).code == 370
    for statement in (f"INSERT INTO sluice_position VALUES {FORGED}", "UPDATE sluice_position SET ordinal = 1000000"):
        world.master.execute(statement)
        found = refused(world)
        assert found.code == 370
        assert "public.sluice_position" in found.fact
    assert zurich.execute(KEPT).fetchall() == before
    world.configure(
        lambda settings: settings["slaves"]["zurich"].update(tables={"public.sluice_position": {"as": "w"}})
    )
    world.drain()
    assert world.rows("zurich", "public.w") == world.rows("master", "public.sluice_position")


@pytest.mark.full(but=["branch.sluice_loaded"])
@pytest.mark.parametrize("there", ["branch.sluice_loaded", "repl.repl_queue"])
def test_no_command_makes_alters_or_drops_a_table_of_ours(build, there):
    schema, _, name = there.partition(".")
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.*"])
    zurich, kept = world.reader("zurich"), "public" if schema == "repl" else schema
    zurich.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}; ALTER TABLE t SET SCHEMA {schema}")
    if schema == "repl":
        zurich.execute("CREATE TABLE repl.repl_queue (id int)")
    world.configure(lambda all_: all_["slaves"]["zurich"].update(schema=kept, schemas={"public": schema}))
    world.drain()
    before = zurich.execute("SELECT %s::regclass::oid", [there]).fetchone()
    # No wildcard takes a table that is made under such a name, unless it is one of another schema's.
    made = [f"DROP TABLE {name}", f"CREATE TABLE {name} (id int)"] if schema == "repl" else []
    for statement in (f"ALTER TABLE t RENAME TO {name}", f"ALTER TABLE {name} ADD n int", *made, f"DROP TABLE {name}"):
        world.master.execute(statement)
        found = refused(world)
        assert found.code == 370
        assert f"public.{name} " in found.fact
        assert f" {there} " in found.fact
        world.configure(lambda all_: all_["slaves"]["zurich"].update(tables={f"public.{name}": {"exclude": True}}))
        world.drain()
        world.configure(lambda all_: all_["slaves"]["zurich"].pop("tables"))
    assert zurich.execute("SELECT %s::regclass::oid", [there]).fetchone() == before


def test_a_configuration_that_gives_a_table_a_name_of_ours_is_refused_before_anything_is_done(updating):
    world = updating("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    for name in ("public.sluice_position", "repl.repl_state", "other.sluice_ranges"):
        world.configure(
            lambda settings, name=name: settings["slaves"]["zurich"].update(tables={"public.t": {"as": name}})
        )
        assert any("SLC-370" in one.text for one in findings(world.context))
        with pytest.raises(SluiceError, match="SLC-370"):
            inhibit(world.context, SOURCE, ["zurich"])


@pytest.mark.full(but=["both"])
@pytest.mark.parametrize("has", ["the new name", "both", "neither"])
def test_a_rename_is_believed_to_be_done_by_nobody_but_the_drain(build, has):
    world = build("CREATE TABLE t (id int PRIMARY KEY, v text)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1, 'a')")
    world.catch_up()
    zurich = world.reader("zurich")
    if has == "the new name":
        zurich.execute("ALTER TABLE t RENAME TO u")
    elif has == "neither":
        zurich.execute("ALTER TABLE t RENAME TO hidden")
    else:
        zurich.execute("CREATE TABLE u (LIKE t INCLUDING ALL)")
    world.master.execute("ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (2, 'b')")
    assert refused(world).code == {"the new name": 371, "both": 142, "neither": 70}[has]
    zurich.execute("ALTER TABLE IF EXISTS hidden RENAME TO t")
    if has == "both":
        zurich.execute("DROP TABLE u")
    elif has == "the new name":
        zurich.execute("ALTER TABLE u RENAME TO t")
    world.catch_up()
    assert world.rows("zurich", "public.u") == world.rows("master", "public.u")
