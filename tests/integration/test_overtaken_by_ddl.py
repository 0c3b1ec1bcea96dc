"""DDL of the master that commits while rows are looked for which a catalog of before told of: that passes (R10)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from support.updating import compare_here
from support.world import SOURCE

from sluice.errors import RowsDiffer, SluiceError, TransientError
from sluice.model.names import TableName
from sluice.repair.run import RepairRequest, repair
from sluice.state.replication import Status
from sluice.vendors.postgresql.read import cut_tables, rows
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

# By the name of the table to which it happens.
HAPPENS = {
    "dropped": "ALTER TABLE dropped DROP COLUMN v",
    "named": "ALTER TABLE named RENAME COLUMN v TO w",
    "renamed": "ALTER TABLE renamed RENAME TO renamed_since",
    "added": "ALTER TABLE added ADD COLUMN c int DEFAULT 5",
    "typed": "ALTER TABLE typed ALTER COLUMN v TYPE varchar(90)",
    "moved": "ALTER TABLE moved SET SCHEMA elsewhere",
    "gone": "DROP TABLE gone",
}
MADE = """
CREATE TABLE {0} (id int PRIMARY KEY, v text);
INSERT INTO {0} SELECT g, 'x' FROM generate_series(1, 2000) AS g;
"""
KINDS = pytest.mark.parametrize("kinds", [("dropped", "gone"), tuple(HAPPENS)], ids=["few", "all"])


@pytest.fixture
def filled(updating):
    """Makes worlds whose slave has these tables and was never compared; each is named after what happens to it."""

    def made(kinds):
        ddl = "CREATE SCHEMA elsewhere;" + "".join(map(MADE.format, kinds))
        world = updating(ddl, [f"public.{name}" for name in kinds], {}, slaves=("zurich",))
        world.update()
        return world

    return made


def compared(world, name, compare=compare_here, **how):
    with world.running(), suppress(TransientError):
        verify(world.context, VerifyRequest(SOURCE, ("zurich",), (TableName("public", name),), **how), compare, 60)
    assert world.status("zurich") is not Status.INCONSISTENT, name


def once(do):
    """Does something at its first call."""
    first = iter([do])
    return lambda: next(first, lambda: None)()


@pytest.mark.full(but=["few"])
@KINDS
def test_a_comparison_is_tried_again_and_never_ends_for_good(filled, kinds):
    world = filled(kinds)
    for name in kinds:
        alter = once(lambda name=name: world.session().execute(HAPPENS[name]))
        compared(world, name, lambda jobs, alter=alter: alter() or compare_here(jobs), initial=name == "dropped")
    assert world.verify() == {"zurich": 0}


@pytest.mark.full(but=["behind-few"])
@KINDS
@pytest.mark.parametrize("where", ["before", "behind"])
def test_so_is_that_of_a_table_that_is_cut(filled, monkeypatch, kinds, where):
    monkeypatch.setattr(cut_tables, "_BLOCKS", 3)
    world, seen = filled(kinds), []
    begin = cut_tables.read_tables_alone
    for name in kinds:
        alter = once(lambda name=name: world.session().execute(HAPPENS[name]))
        early, late = (alter, lambda: None) if where == "before" else (lambda: None, alter)
        monkeypatch.setattr(cut_tables, "read_tables_alone", lambda session, early=early: early() or begin(session))

        def compare(jobs, late=late):
            seen.extend(job.within for job in jobs)
            late()
            return compare_here(jobs)

        compared(world, name, compare)
    assert where == "before" or all(seen)
    assert world.verify(initial=True) == {"zurich": 0}


@pytest.mark.full(but=["few"])
@KINDS
def test_a_repair_is_put_off_and_ends_with_what_is_left(filled, monkeypatch, kinds):
    world = filled(kinds)
    assert world.verify(initial=True) == {"zurich": 0}
    for name in kinds:
        world.reader("zurich").execute(f"UPDATE {name} SET v = 'harm' WHERE id < 3")
    with pytest.raises(RowsDiffer) as found:
        world.verify()
    keyed = rows.PostgresReading.keyed
    for name in kinds:
        alter = once(lambda name=name: world.session().execute(HAPPENS[name]))
        monkeypatch.setattr(rows.PostgresReading, "keyed", lambda *of, alter=alter: alter() or keyed(*of))
        request = RepairRequest(SOURCE, "zurich", (TableName("public", name),), found.value.report)
        told = None
        with world.running():
            try:
                repair(world.context, request, compare_here, 60)
            except SluiceError as error:
                told = error
        assert told is None or told.code == 466 or isinstance(told, TransientError), (name, told)


MARIA = {name: HAPPENS[name] for name in ("dropped", "named", "renamed", "gone")}
MARIA_MADE = "CREATE TABLE {0} (id int PRIMARY KEY, v text);\nINSERT INTO {0} SELECT seq, 'x' FROM seq_1_to_50"


@pytest.mark.full
@pytest.mark.parametrize("kinds", [("dropped", "named"), tuple(MARIA)], ids=["few", "all"])
def test_so_is_a_comparison_with_a_master_on_mariadb(binlog, kinds):
    world, master = binlog(";\n".join(map(MARIA_MADE.format, kinds)), kinds, slaves=("zurich",))
    for name in kinds:
        alter = once(lambda name=name: master.execute(MARIA[name]))

        def compare(jobs, alter=alter):
            alter()
            return compare_here(jobs)

        request = VerifyRequest(SOURCE, ("zurich",), (TableName(master.name, name),))
        with world.running(), suppress(TransientError):
            verify(world.context, request, compare, 60)
        assert world.status("zurich") is Status.NORMAL, name
    assert world.verify() == {"zurich": 0}
