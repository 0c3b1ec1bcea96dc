"""What a released version left in the databases is brought up to this one, and changes go on meanwhile."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.installation import DDL, dump, restore
from support.updating import background
from support.world import SOURCE

from sluice import paths, sqlfiles
from sluice.capture.reconcile import bootstrap
from sluice.errors import ConfigError
from sluice.paths import PROJECT
from sluice.state.replication import Status
from sluice.store import engine

pytestmark = [pytest.mark.postgres]

# Where the installation of this version is to be kept, once it is released: `installed_0_1_0` beside this file.
KEEP_ENV = "SLUICE_TEST_KEEP"
RELEASED = sorted(Path(__file__).parent.glob("installed_*"))
VERSIONS = {
    "master": "SELECT version FROM repl.repl_state",
    "zurich": "SELECT obj_description('sluice_position'::regclass)",
    "control": "SELECT version_num FROM alembic_version",
}
# The next version, as far as it is one of tables.
MIGRATIONS = {
    "postgresql/migrations/source/002_remark.sql": "ALTER TABLE {state} ADD COLUMN remark text NOT NULL DEFAULT ''",
    "postgresql/migrations/slave/002_remark.sql": "ALTER TABLE {position} ADD COLUMN remark text NOT NULL DEFAULT ''",
    "control/versions/0002_remark.py": """
from alembic import op
revision, down_revision = "0002", "0001"
def upgrade():
    op.execute("ALTER TABLE segment ADD COLUMN remark text NOT NULL DEFAULT ''")
""",
}


@pytest.fixture
def next_version(tmp_path, monkeypatch):
    """This process is of a version that changed the shape of what is in each database."""
    folder = tmp_path / "next" / "sql"
    shutil.copytree(PROJECT / "sql", folder)
    for name, text in MIGRATIONS.items():
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_text(text)
    monkeypatch.setattr(sqlfiles, "_SQL", folder)
    for module in (engine, paths):
        monkeypatch.setattr(module, "FILES", folder.parent)
    engine.newest.cache_clear()
    yield
    engine.newest.cache_clear()


def shapes(world):
    """The columns of all tables of ours."""
    columns = """
        SELECT attrelid::regclass::text, attname, format_type(atttypid, NULL), attnotnull, attstorage, reloptions::text
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relkind = 'r' AND relnamespace::regnamespace::text IN ('repl', 'public') AND attnum > 0
        AND NOT attisdropped"""
    return {name: set(world.reader(name).execute(columns).fetchall()) for name in VERSIONS}


def versions(world):
    return {name: world.reader(name).execute(query).fetchone()[0] for name, query in VERSIONS.items()}


@pytest.mark.full(but=["installed_0_1_0"])
@pytest.mark.parametrize("installed", [*RELEASED, None], ids=lambda folder: folder.name if folder else "this version")
def test_an_installation_is_upgraded_while_applications_write_and_changes_wait(build, tmp_path, request, installed):
    world, fresh = build(DDL, ["public.t"]), build(DDL, ["public.t"])
    for one in (world, fresh):
        one.drain()
    if not installed:
        installed = Path(os.environ.get(KEEP_ENV, tmp_path / "dumped"))
        dump(world, installed)
    restore(world, installed)
    world.master.execute("INSERT INTO t SELECT n, 'before' FROM generate_series(1, 50) AS n; UPDATE t SET v = 'b'")
    writer, known = world.session(), iter(range(100, 1_000_000))

    def write():
        number = next(known)
        writer.execute("INSERT INTO t VALUES (%s, 'meanwhile')", [number])
        writer.execute("UPDATE t SET v = v || id WHERE id = %s", [number])

    request.getfixturevalue("next_version")
    fresh.configure(lambda plain: None)
    with background(write, pause_s=0.05):
        for one in (world, fresh):
            bootstrap(one.context, SOURCE)
            one.publish()
            one.drain()
    world.catch_up()
    assert world.status("zurich") is Status.NORMAL
    assert world.differences() == {}
    assert len(world.rows("zurich", "public.t")) > 50
    assert versions(world) == {"master": 2, "zurich": "version 2", "control": "0002"}
    assert shapes(world) == shapes(fresh)
    assert {change["action"] for change in world.log()} == {"I", "U"}


NEWER = {
    "publish": ("master", "UPDATE repl_state SET version = 999", "the DbResources repl_ are"),
    "bootstrap": ("master", "UPDATE repl_state SET version = 999", "the DbResources repl_ are"),
    "drain": ("zurich", "COMMENT ON TABLE sluice_position IS 'version 999'", "the tables of Sluice in zurich are"),
}
STORE = ("control", "UPDATE alembic_version SET version_num = '0999'", "the tables of the control store are")
CASES = [*((job, *STORE) for job in NEWER), *((job, *case) for job, case in NEWER.items())]


def test_what_a_newer_version_made_is_left_alone(build):
    world = build(DDL, ["public.t"])
    world.drain()
    store = world.reader("control")
    known = store.execute(VERSIONS["control"]).fetchone()
    for job, name, newer, what in CASES:
        store.execute("UPDATE alembic_version SET version_num = %s", known)
        world.reader(name).execute(newer)
        world.configure(lambda plain: None)
        with pytest.raises(ConfigError, match=rf"SLC-059: {what} of version 0?999"):
            bootstrap(world.context, SOURCE) if job == "bootstrap" else getattr(world, job)()
