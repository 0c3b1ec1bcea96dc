"""A session that is lost at any word is a transient error of ours, and loses and doubles nothing (R2, R3)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.proxy import line

from sluice.errors import TransientError

pytestmark = [pytest.mark.postgres]

# Rows without a key would be there twice if one came twice.
DDL = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE TABLE heap (a int)"
WRITES = "INSERT INTO t VALUES ({0}, 'a'); INSERT INTO heap VALUES (1), (1); UPDATE t SET v = 'b' WHERE id = {0} - 1"


@pytest.mark.full
@pytest.mark.parametrize("name", ["master", "zurich"])
def test_a_session_that_is_lost_at_any_word_is_tried_again(build, name):
    world, codes = build(DDL, ["public.t", "public.heap"]), set()
    with line(world.infos[name]) as between:
        world.infos[name] = replace(world.infos[name], port=between.port)
        world.configure(lambda settings: None)
        for number in range(1, 200):
            world.master.execute(WRITES.format(number))
            if name == "zurich":
                world.publish()
            between.cut_after = number
            try:
                world.publish() if name == "master" else world.drain()
            except TransientError as lost:
                codes.add(lost.code)
            if between.cut_after:
                break
            world.let_leases_expire()
        assert between.cut_after, "it never came to its end"
        between.cut_after = 0
        world.catch_up()
    assert number > 20
    assert codes == {30}
    assert world.differences() == {}
