"""Rows that a plugin splits and a view of the slave brings together, as the guide to plugins shows it."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import pytest
from support.guides import guide

pytestmark = [pytest.mark.postgres]

PLUGINS = guide("plugins.md")
(VIEW,) = re.findall(r"```sql\n(.*?)```", PLUGINS, re.DOTALL)
DDL = """
CREATE TABLE orders (id int PRIMARY KEY, tags text);
INSERT INTO orders SELECT g, (ARRAY['a', 'a,b', 'b,c', NULL])[1 + g % 4] FROM generate_series(1, 40) AS g;
"""
CHANGES = (
    "UPDATE orders SET tags = 'b,d' WHERE id < 12; INSERT INTO orders VALUES (0, 'd');DELETE FROM orders WHERE id > 39",
    "BEGIN; DELETE FROM orders WHERE tags LIKE '%c'; UPDATE orders SET id = -id WHERE id = 16; COMMIT",
    "TRUNCATE orders; INSERT INTO orders VALUES (1, 'e,a'), (2, 'e')",
)


@pytest.fixture
def world(updating, monkeypatch):
    module = ModuleType("guide")
    exec(re.findall(r"```python\n(.*?)```", PLUGINS, re.DOTALL)[0], module.__dict__)
    monkeypatch.setitem(sys.modules, "guide", module)
    made = updating(DDL, ["public.orders"])
    seen = {"tables": {"public.orders": {"as": "order_tags", "plugin": "guide:PerTag"}}}
    made.configure(lambda settings: settings["slaves"]["geneva"].update(seen))
    return made


@pytest.mark.full
def test_a_view_makes_one_row_of_several_in_stream_and_load(world):
    world.update()
    slave = world.session("geneva")
    slave.execute("SET search_path = branch")
    slave.execute(VIEW)
    slave.execute("CREATE INDEX ON order_tags (tag)")
    tagged = "WITH order_tags AS (SELECT id, unnest(string_to_array(tags, ',')) AS tag FROM orders) "

    def brought_together():
        wanted = world.master.execute(f"{tagged} {VIEW[VIEW.index('SELECT') :]} ORDER BY tag").fetchall()
        assert wanted
        return slave.execute("SELECT * FROM tags ORDER BY tag").fetchall() == wanted

    assert brought_together()
    for changes in CHANGES:
        world.master.execute(changes)
        assert world.verify(initial=changes == CHANGES[0]) == {"zurich": 0, "geneva": 0}
        assert brought_together()
    slave.execute("DELETE FROM order_tags WHERE tag = 'e'")
    assert not brought_together()
    world.update()
    assert brought_together()
