"""What older versions made otherwise, triggers and the types of columns, is made anew by an upgrade."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.capture.reconcile import bootstrap
from sluice.errors import TransientError
from sluice.vendors.postgresql.capture.queue import triggers

pytestmark = [pytest.mark.full, pytest.mark.postgres]

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"


# As version 16 had it: a trigger cut the action to a letter, and the queue kept that.
LETTERS = """
DROP VIEW repl_items;
ALTER TABLE repl_queue ALTER db_action TYPE "char" USING db_action::"char";
DO $$ BEGIN
    EXECUTE replace(replace(replace(pg_get_functiondef(('repl_capture_' || 't'::regclass::oid)::regproc),
                            'TG_OP,', 'TG_OP::pg_catalog."char",'),
                    'RETURN nothing', 'RETURN NULL'),
                    'is_long', 'was_long');
END $$;
UPDATE repl_state SET version = 16
"""
KEPT = "SELECT data_type FROM information_schema.columns WHERE table_name = 'repl_queue' AND column_name = 'db_action'"
CUT = """SELECT prosrc LIKE '%RETURN NULL%' FROM pg_proc WHERE proname = 'repl_capture_' || 't'::regclass::oid"""


@pytest.mark.parametrize("viewed", [False, True])
def test_actions_stay_whole_after_an_upgrade_whatever_the_queue_keeps_meanwhile(build, monkeypatch, viewed):
    monkeypatch.setattr(triggers, "_LOCK_TRIES", 1)
    world = build(DDL, ["public.t"])
    world.master.execute(LETTERS)
    world.master.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'); DELETE FROM t WHERE id = 1")
    assert world.master.execute(CUT).fetchone() == (True,)
    writer = world.session()
    with writer.transaction():
        writer.execute("UPDATE t SET v = 'c'")
        with pytest.raises(TransientError, match="SLC-036"):
            bootstrap(world.context, SOURCE)
        assert [world.master.execute(query).fetchone() for query in (CUT, KEPT)] == [(False,), ('"char"',)]
        writer.execute("UPDATE t SET v = 'd'")
    world.master.execute("GRANT SELECT ON repl_items TO PUBLIC")
    if viewed:
        world.master.execute("CREATE VIEW mine AS SELECT db_action FROM repl_queue")
    bootstrap(world.context, SOURCE)
    assert world.master.execute(KEPT).fetchone() == ('"char"' if viewed else "text",)
    assert world.master.execute(
        "SELECT relacl::text LIKE '%,=r/%' FROM pg_class WHERE relname = 'repl_items'"
    ).fetchone() == (True,)
    world.master.execute("INSERT INTO t VALUES (3, 'e'); TRUNCATE t; INSERT INTO t VALUES (4, 'f')")
    told = [action for (action,) in world.master.execute("SELECT db_action FROM repl_items ORDER BY repl_key")]
    assert told == ["INSERT", "INSERT", "DELETE", "UPDATE", "UPDATE", "INSERT", "TRUNCATE", "INSERT"]
    world.catch_up()
    assert [change["action"] for change in world.log()] == [action[0] for action in told]
    assert world.differences() == {}


# As version 26 had it.
PADDED = "ALTER TABLE repl_tables ALTER actions TYPE char(3); UPDATE repl_state SET version = 26"


@pytest.mark.parametrize("viewed", [False, True])
def test_actions_of_the_registry_lose_their_blanks_unless_somebody_shows_them(build, viewed):
    world = build(DDL, {"public.t": {"actions": "ID"}})
    world.master.execute(PADDED)
    if viewed:
        world.master.execute("CREATE VIEW mine AS SELECT actions FROM repl_tables")
    assert bootstrap(world.context, SOURCE)["added"] == []
    assert world.master.execute("SELECT actions FROM repl_tables").fetchone() == ("ID " if viewed else "ID",)
    world.master.execute("INSERT INTO t VALUES (1, 'a'); UPDATE t SET v = 'b'; DELETE FROM t")
    assert [action for (action,) in world.master.execute("SELECT db_action FROM repl_items")] == ["INSERT", "DELETE"]


def test_an_event_trigger_that_heard_less_hears_all_after_an_upgrade(build):
    world = build(DDL, ["public.t"])
    world.master.execute(
        'DROP EVENT TRIGGER "repl.repl_altered"; CREATE EVENT TRIGGER "repl.repl_altered" ON ddl_command_end'
        " WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION repl_altered();"
        'ALTER EVENT TRIGGER "repl.repl_altered" ENABLE ALWAYS; UPDATE repl_state SET version = 6'
    )
    world.publish()
    world.master.execute("ALTER INDEX t RENAME TO u")
    world.publish()
    assert [change["action"] for change in world.log()] == ["A"]


OLDER_MARKS = """
DROP TRIGGER "W_RI_z_repl_capture_{0}" ON {1};
CREATE CONSTRAINT TRIGGER "V_RI_z_repl_capture_{0}" AFTER INSERT OR UPDATE OR DELETE ON {1}
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION repl_mark_function();
ALTER TABLE {1} ENABLE ALWAYS TRIGGER "V_RI_z_repl_capture_{0}"
"""


def test_triggers_that_waited_for_the_commit_themselves_leave_a_note_and_are_made_anew(build):
    world = build(
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE); CREATE TABLE p (id int, r int) PARTITION BY LIST (r);"
        "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1); ALTER TABLE p1 ADD UNIQUE (id) DEFERRABLE",
        ["public.t", "public.p"],
    )
    for table, target in (("t", "t"), ("p", "p1")):
        (relation,) = world.master.execute(f"SELECT '{table}'::regclass::oid::text").fetchone()
        world.master.execute(OLDER_MARKS.format(relation, target))
    world.master.execute("DROP TRIGGER mark ON repl_notes; UPDATE repl_state SET version = 22")
    world.publish()
    for _ in range(2):
        world.master.execute("INSERT INTO t VALUES (1); DELETE FROM t; INSERT INTO p VALUES (1, 1); DELETE FROM p")
        world.publish()
        assert {change["action"] for change in world.log()} == {"I", "D", "C"}
        bootstrap(world.context, SOURCE)
        made = world.master.execute(
            "SELECT left(tgname, 2), tgrelid::regclass::text FROM pg_trigger WHERE tgname ~ '^[VW]_'"
        )
        assert sorted(made) == [("W_", "p1"), ("W_", "t")]
    world.master.execute("BEGIN; INSERT INTO t VALUES (1); INSERT INTO p VALUES (1, 1); TRUNCATE t, p; COMMIT")
    world.catch_up()
    assert world.differences() == {}
