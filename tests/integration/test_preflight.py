"""Whatever would stop an initial update, and can be known, refuses it before anything is changed; `check` tells it."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.updating import UpdatingWorld
from support.world import SOURCE

from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError
from sluice.initial_update.inhibit import inhibit
from sluice.initial_update.options import EXTERNAL, ONLINE
from sluice.monitor.check import findings
from sluice.paths import HOME_ENV
from sluice.state.replication import Status
from sluice.vendors.postgresql.catalog.row_identity import UNFINISHED

pytestmark = [pytest.mark.postgres]

SHAPE = "CREATE TABLE {}.shape (width int)"
MOODS = "CREATE TABLE moods (id int PRIMARY KEY, m mood)"
DDL = f"""
CREATE TYPE mood AS ENUM ('sad', 'fine');
CREATE TABLE shape (width int);
CREATE TABLE t (id int PRIMARY KEY, amount numeric(14,4), note text);
{MOODS};
CREATE TABLE shapes (id int PRIMARY KEY, s shape);
CREATE TABLE computed (id int PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) STORED);
CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (10);
INSERT INTO t VALUES (1, 1.5, 'one'), (2, 2.5, 'two');
"""
TABLES = ["public.t", "public.moods", "public.shapes", "public.computed", "public.parted"]


@dataclass(frozen=True)
class Fault:
    """What stands in the way of an update of zurich.

    Attributes:
        done, undone: SQL there.
        slave, source: more of their settings.
        how: choices of the form without which it does not matter, and which `check` does not know.
        told_by: which finding of `check` names it.
    """

    code: int
    fact: str
    done: str = ""
    undone: str = ""
    slave: dict[str, Any] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    how: dict[str, Any] = field(default_factory=dict)
    told_by: str = "slave zurich"


def table(name: str, **entry: Any) -> dict[str, Any]:
    """The settings of a slave with one for a table."""
    return {"tables": {f"public.{name}": entry}}


WIPED = {"wipe_out": {"schema": "public"}}
FAULTS = {
    "a column is missing": Fault(73, "lacks the column note", "ALTER TABLE t DROP note", "ALTER TABLE t ADD note text"),
    "a column takes no NULL": Fault(
        73,
        "m (NULL -> NOT NULL)",
        "ALTER TABLE moods ALTER m SET NOT NULL",
        "ALTER TABLE moods ALTER m DROP NOT NULL",
    ),
    "a crash of the server empties a table": Fault(
        645, 'has "public"."t" as UNLOGGED', "ALTER TABLE t SET UNLOGGED", "ALTER TABLE t SET LOGGED"
    ),
    "a name is left over": Fault(
        210, "has moods_pkey of public.was", "ALTER TABLE moods RENAME TO was", "ALTER TABLE was RENAME TO moods"
    ),
    "a column is too narrow": Fault(
        220,
        "amount (numeric(14,4) -> numeric(12,2)",
        "ALTER TABLE t ALTER amount TYPE numeric(12,2)",
        "ALTER TABLE t ALTER amount TYPE numeric(14,4)",
    ),
    "a type cannot be made": Fault(
        76,
        "the slave lacks the type public.shape",
        "DROP TABLE shapes, shape",
        f"{SHAPE.format('public')}; CREATE TABLE shapes (id int PRIMARY KEY, s shape)",
    ),
    "an enum lacks a label": Fault(
        76,
        "it lacks fine",
        f"DROP TABLE moods; DROP TYPE mood; CREATE TYPE mood AS ENUM ('sad'); {MOODS}",
        f"DROP TABLE moods; DROP TYPE mood; CREATE TYPE mood AS ENUM ('sad', 'fine'); {MOODS}",
    ),
    "a column is computed from one that is left out": Fault(
        432,
        "does not get the column n of public.computed",
        "ALTER TABLE computed RENAME TO aside",
        "ALTER TABLE aside RENAME TO computed",
        slave=table("computed", exclude_columns=["n"]),
    ),
    "a table is to have no rows": Fault(
        210, "public.t of the slave has rows", slave=table("t", on_existing_rows="refuse")
    ),
    "rows are to stay without a key": Fault(
        210,
        "nothing tells which of them are the master's",
        "CREATE UNIQUE INDEX more ON t (note)",
        "DROP INDEX more",
        slave=table("t", on_existing_rows="merge"),
    ),
    "rows are to stay in a table half made": Fault(
        210,
        "was made by an initial update that has not ended",
        f"COMMENT ON TABLE t IS '{UNFINISHED}'",
        "COMMENT ON TABLE t IS NULL",
        slave=table("t", on_existing_rows="merge"),
    ),
    "the server's own schema is to be wiped out": Fault(
        214, "the server's own", slave={"wipe_out": {"schema": "pg_catalog"}}
    ),
    "others are connected": Fault(
        215, "others are connected", slave={"wipe_out": {"schema": "public", "if_connected": "refuse"}}
    ),
    "something depends on what is wiped out": Fault(
        215,
        "table public.t: view elsewhere.v depends on table public.t",
        "CREATE SCHEMA elsewhere; CREATE VIEW elsewhere.v AS SELECT id FROM public.t",
        "DROP SCHEMA elsewhere CASCADE",
        slave=WIPED,
    ),
    "the slave has no such schema of ours": Fault(3, "nowhere", slave={"schema": "nowhere"}),
    "updates do not say what rows were": Fault(
        226,
        "needs to know what rows of public.t were",
        slave=table("t", exclude_columns=["id"]),
        source=table("t", old_images="key"),
    ),
    "a partition is watched with its table": Fault(
        477, "public.part is a partition of public.parted", source=table("part"), told_by=f"source {SOURCE}"
    ),
    "a table cannot come in blocks": Fault(
        99, "public.t (`searchable`", slave=table("t", searchable=["note"]), how={"mode": ONLINE}
    ),
    "a program is not there": Fault(
        200, "no_such_program", source={"initial_program": {"command": ["no_such_program"]}}, how={"mode": EXTERNAL}
    ),
    "a program does not know the slave's names": Fault(
        204, "public.t", slave=table("t", **{"as": "other"}), how={"mode": EXTERNAL}
    ),
    "a directory cannot be written to": Fault(
        180, "nothing can be written to", source={"initial_files": {"location": "/dev/null/there"}}, how={"store": True}
    ),
    "a disk is full": Fault(180, "/proc", source={"initial_files": {"location": "/proc/there"}}, how={"store": True}),
    "a key is not there": Fault(243, "/no/key", source={"initial_files": {"key_file": "/no/key"}}, how={"store": True}),
    "a version is not kept": Fault(194, "version 0.1 of flights is not kept", how={"version": "REPL_Ver_0.1"}),
}


@pytest.fixture(scope="module")
def filled(server, tmp_path_factory):
    """Two slaves that an update has filled; all tests here have them, since none of them changes anything."""
    path = tmp_path_factory.mktemp("preflight") / "world"
    world = UpdatingWorld(server, path, DDL, TABLES, {"public": "branch"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(world.infos))
        patch.setenv(HOME_ENV, str(path))
        world.reader("zurich").execute(SHAPE.format("public").encode())
        world.reader("geneva").execute(f"CREATE SCHEMA branch; {SHAPE.format('branch')}".encode())
        world.update()
        world.end_update()
        yield world
    world.close()
    server.drop_databases(world.infos.values())


def standing(world):
    """All that an update changes first: states, gates, epochs, positions, what tables hold."""
    control = [
        world.reader("control").execute(f"SELECT * FROM {name} ORDER BY 1, 2".encode()).fetchall()
        for name in ("replication", "hold", "lease", "audit")
    ]
    there = [
        (world.reader(slave).execute("SELECT * FROM sluice_position").fetchall(), world.rows(slave, "public.t"))
        for slave in world.slaves
    ]
    return control, there


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_update_that_cannot_be_is_refused_for_all_before_anything_is_changed(filled, fault):
    world, before = filled, copy.deepcopy(filled.settings)

    def changed(settings):
        settings["slaves"]["zurich"] |= fault.slave
        more = {**fault.source, "tables": {**settings["sources"][SOURCE]["tables"], **fault.source.get("tables", {})}}
        settings["sources"][SOURCE] |= more

    world.configure(changed)
    world.reader("zurich").execute(fault.done.encode())
    try:
        there = standing(world)
        with pytest.raises(SluiceError, match=f"SLC-{fault.code:03d}: ") as refused:
            world.inhibit("geneva", "zurich", **fault.how)
        assert fault.fact in refused.value.fact
        assert "nothing was changed" in refused.value.hint
        assert standing(world) == there
        if not fault.how:
            said = {one.subject: one.text for one in findings(world.context)}[fault.told_by]
            assert said.startswith(f"SLC-{fault.code:03d}: ")
            assert fault.fact in said
    finally:
        world.reader("zurich").execute(fault.undone.encode())
        world.configure(lambda settings: settings.update(before))
    assert [world.status(slave) for slave in world.slaves] == [Status.NORMAL] * 2


# What is done where by an owner who is no superuser, and whose fault it is.
FORBIDDEN = {
    "something acts on the rows": (
        "zurich",
        "CREATE FUNCTION acts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
        "CREATE TRIGGER acts AFTER INSERT ON t EXECUTE FUNCTION acts()",
        "SLC-074: .*acts on public.t of the slave would act a second time",
        "slave zurich",
    ),
    "a table cannot be emptied": (
        "zurich",
        "REVOKE TRUNCATE ON t FROM CURRENT_USER",
        "SLC-033: .*permission denied for table t",
        "slave zurich",
    ),
    "no table can be made": (
        "zurich",
        "DROP TABLE t; REVOKE CREATE ON SCHEMA public FROM PUBLIC, pg_database_owner",
        "SLC-033: .*permission denied for schema public",
        "slave zurich",
    ),
    "a table cannot be read": (
        "master",
        "REVOKE SELECT ON t FROM CURRENT_USER",
        "SLC-033: .*permission denied for table t",
        f"source {SOURCE}",
    ),
}


@pytest.mark.parametrize(("where", "done", "error", "told_by"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_a_role_may_not_do_is_known_before_anything_is_changed(build, weak, where, done, error, told_by):
    at = {"master": weak, "zurich": weak}
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"], elsewhere=at)
    if "SCHEMA" in done:
        # Our own tables are elsewhere.
        world.configure(lambda settings: settings["slaves"]["zurich"].update(schema="ours"))
        world.reader(where).execute("CREATE SCHEMA ours")
    world.reader(where).execute(done.encode())
    with pytest.raises(SluiceError, match=error):
        inhibit(world.context, SOURCE, ["zurich"])
    assert world.status("zurich") is Status.NORMAL
    said = {one.subject: one.text for one in findings(world.context)}[told_by]
    assert re.match(error, said)
