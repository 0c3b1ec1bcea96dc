"""A session has the settings that it was begun with, or nothing is read or written in it (R7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.proxy import line

from sluice.errors import SluiceError

pytestmark = [pytest.mark.postgres]


@pytest.mark.parametrize("name", ["master", "zurich"])
def test_a_pooler_that_drops_settings_is_refused(build, name):
    world = build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])
    world.master.execute("INSERT INTO t VALUES (1)")
    world.publish()
    with line(world.infos[name]) as pooler:
        world.infos[name] = replace(world.infos[name], port=pooler.port)
        world.configure(lambda settings: None)
        pooler.forgetful = True
        with pytest.raises(SluiceError, match=r"SLC-310: a session at .* row_security is on, not off") as refused:
            world.publish() if name == "master" else world.drain()
        assert "pooler" in refused.value.hint
        assert world.infos[name].password not in str(refused.value)
        pooler.forgetful = False
        world.catch_up()
    assert world.differences() == {}
