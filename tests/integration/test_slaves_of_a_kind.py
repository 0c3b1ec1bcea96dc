"""One entry for many slaves: another one is a name more, and nothing else is touched."""

from __future__ import annotations

import pytest
from support.updating import compare_here
from support.world import SOURCE

from sluice.state.replication import Status
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE t (id int PRIMARY KEY, branch text);
INSERT INTO t SELECT g, (ARRAY['zurich', 'geneva', 'bern'])[g % 3 + 1] FROM generate_series(1, 300) AS g;
"""
# What is there, and what it does; that a function was replaced by the same one is no difference.
CATALOG = """
SELECT 'class' AS kind, oid, relnatts::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
UNION ALL SELECT 'function', oid, md5(prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL SELECT 'trigger', oid, xmin::text FROM pg_trigger ORDER BY 1, 2
"""


def of_kind(*names):
    """One entry for these, and one replication."""

    def configured(settings):
        seen = {"public.t": {"where": "branch = '{name}'"}}
        settings["slaves"] = {"offices": {"names": list(names), "connection": "{name}", "tables": seen}}
        settings["replications"] = [{**settings["replications"][0], "slave": "offices"}]

    return configured


@pytest.mark.full
def test_another_slave_is_a_name_more_and_the_master_and_the_others_stay_as_they_are(updating):
    world = updating(DDL, ["public.t"], renamed={})
    world.configure(of_kind("zurich"))
    world.update("zurich")
    with world.running("zurich"):
        verify(world.context, VerifyRequest(SOURCE, ("zurich",), initial=True), compare_here)
    before = world.reader("master").execute(CATALOG).fetchall()
    world.configure(of_kind("zurich", "geneva"))
    world.update("geneva")
    assert world.status("zurich") is Status.NORMAL
    world.master.execute("UPDATE t SET branch = 'geneva' WHERE id <= 100 AND branch = 'zurich'")
    assert world.verify("geneva", initial=True) == {"geneva": 0}
    assert world.reader("master").execute(CATALOG).fetchall() == before
    assert [world.rows(slave, "public.t").total() for slave in world.slaves] == [67, 133]
