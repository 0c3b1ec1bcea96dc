"""What somebody wrote into ITEMS by hand is refused before any slave sees it, and says which row to remove."""

from __future__ import annotations

import json
from dataclasses import asdict

import psycopg
import pytest
from support.issuing import DDL, execute

from sluice.errors import SluiceError, TransientError
from sluice.model.action import Action, Command
from sluice.model.position import Position
from sluice.model.statement import Statement

pytestmark = [pytest.mark.postgres]

NEVER_ISSUED = Statement(7, "DROP TABLE t", "public", reads=False, max_rows=1)
FORGED = {
    "no JSON": ("S", "no JSON", None),
    "JSON of something else": ("S", "[1]", None),
    "parts of other types": ("S", json.dumps({**asdict(NEVER_ISSUED), "id": "seven"}), None),
    "deeper than one can read": ("S", "[" * 200_000, None),
    "a statement that nobody issued": ("S", NEVER_ISSUED.to_json(), None),
    "a statement without a text": ("S", None, None),
    "a number out of all bounds": ("S", json.dumps({**asdict(NEVER_ISSUED), "id": 2**70}), None),
    "an ALTER that is no JSON": ("A", "{", None),
    "a DROP of nothing": ("X", "{}", None),
    "an unknown action": ("Q", "(1,1,a)", None),
    "an update without its new row": ("U", None, "(1,1,a)"),
}


@pytest.fixture
def world(build):
    made = build(DDL, ["public.t"])
    made.master.execute("INSERT INTO t VALUES (1, 1, 'a')")
    return made


def forge(world, action, content, old, relation="0"):
    world.master.execute(
        "INSERT INTO repl_queue (repl_key, relid, db_action, content, oldcontent)"
        f" VALUES (nextval('repl_seq'), {relation}, %s, %s, %s)",
        [action, content, old],
    )


def test_what_is_not_genuine_is_refused_until_the_row_is_removed_that_the_hint_names(world):
    for what, (action, content, old) in FORGED.items():
        forge(world, action, content, old, "'t'::regclass" if action in "QU" else "0")
        with pytest.raises(
            SluiceError, match=r"SLC-068: the change \d+ of ITEMS.* is not one that Sluice wrote"
        ) as caught:
            world.publish()
        assert not isinstance(caught.value, TransientError), what
        known = len(world.queued())
        world.master.execute(caught.value.hint.partition("on the source: `")[2].partition("`")[0])
        assert len(world.queued()) == known - 1, what
    world.catch_up()
    assert world.differences() == {}


def test_a_statement_that_was_issued_is_not_taken_for_another(world):
    done = execute(world, "UPDATE t SET x = 5")
    world.publish()
    forge(world, "S", json.dumps({**asdict(done), "sql": "DROP TABLE t"}), None)
    with pytest.raises(SluiceError, match=r"SLC-068: .* nobody issued it as statement"):
        world.publish()
    world.master.execute("BEGIN; SET LOCAL sluice.purge = on; DELETE FROM repl_queue; COMMIT")
    forge(world, "S", done.to_json(), None)
    with pytest.raises(SluiceError, match=r"SLC-068: .* nobody issued it as statement"):
        world.publish()


def test_what_the_log_has_all_the_same_stops_one_slave_with_a_word(world):
    world.publish()
    world.drain()
    slave = world.drainer()._slave
    with pytest.raises(SluiceError, match=r"SLC-068: .*no statement: JSONDecodeError"):
        slave.apply([Command(Action.STATEMENT, None, "no JSON", ordinal=2, key=2)], Position(2, 2), (), lambda *_: None)
    slave.close()


def test_a_role_that_was_granted_nothing_may_not_write_there(world):
    world.master.execute("CREATE ROLE guest; GRANT INSERT ON t TO guest; GRANT USAGE ON SCHEMA public, repl TO guest")
    guest = world.session()
    guest.execute("SET ROLE guest; INSERT INTO t VALUES (2, 2, 'b')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        guest.execute("INSERT INTO repl_queue (repl_key, relid, db_action) VALUES (1, 0, 'S')")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        guest.execute("INSERT INTO repl_items (repl_key, trans_key, db_action) VALUES (1, 1, 'S')")
    guest.execute("RESET ROLE")
    world.master.execute("DROP OWNED BY guest; DROP ROLE guest")
    world.catch_up()
    assert world.differences() == {}
