"""A home of the embedded runtime whose roles were superusers goes on when they are none any more."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.grants import grants
from sluice.capture.reconcile import bootstrap
from sluice.monitor.check import findings

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE region (id int PRIMARY KEY);
CREATE TABLE city (id int PRIMARY KEY, region int REFERENCES region ON DELETE CASCADE);
INSERT INTO region SELECT generate_series(1, 9);
INSERT INTO city SELECT g, g FROM generate_series(1, 9) AS g;
"""


def test_roles_that_are_superusers_no_more_capture_fill_and_follow(updating, server):
    world = updating(DDL, ["public.*", "of others.*"], {}, slaves=["zurich"])
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
    with server.cluster.admin(world.infos["master"].database) as admin:
        admin.execute('CREATE SCHEMA "of others"; CREATE TABLE "of others".late (id int PRIMARY KEY, n serial)')
    bootstrap(world.context, SOURCE)
    for name in ("master", "zurich"):
        info = world.infos[name]
        server.cluster.create_database(info.database, info.login, info.password)
    server.cluster.let_be_silent(world.infos["zurich"].login)
    supers = "SELECT rolsuper FROM pg_roles WHERE rolname = %s"
    for name in ("master", "zurich"):
        assert world.session(name).execute(supers, [world.infos[name].login]).fetchone() == (False,)
    bootstrap(world.context, SOURCE)
    with server.cluster.admin(world.infos["master"].database) as admin:
        admin.execute(grants(world.context, SOURCE).encode())
        said = {one.subject: one for one in findings(world.context)}
        assert said[f"source {SOURCE}"].good
        assert said["slave zurich"].good
        assert "DDL is seen as it happens" in said[f"source {SOURCE}"].text
        admin.execute("DELETE FROM region WHERE id < 4; ALTER TABLE city ADD name text DEFAULT 'new'")
        admin.execute('INSERT INTO "of others".late VALUES (1)')
    world.catch_up()
    for table in ("public.region", "public.city", "of others.late"):
        assert world.rows("zurich", table) == world.rows("master", table)
    world.update()
    assert world.verify(initial=True) == {"zurich": 0}
