"""Comparisons by roles that may only read: they write on neither side, and need few rights (R10)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.updating import UpdatingWorld, compare_here
from support.world import SOURCE

from sluice.connections import SEALED_ENV, seal
from sluice.errors import SluiceError
from sluice.monitor import check
from sluice.verify.run import VerifyRequest, verify

pytestmark = [pytest.mark.postgres]

DDL = """
CREATE TABLE keyed (id int PRIMARY KEY, note text);
CREATE TABLE heap (a int, note text);
INSERT INTO keyed SELECT g, 'note ' || g FROM generate_series(1, 2000) AS g;
INSERT INTO heap SELECT g % 50, 'note' FROM generate_series(1, 150) AS g;
"""
# The least rights, as verify.md has them.
RIGHTS = {
    "master": "GRANT USAGE ON SCHEMA repl TO {role}; GRANT SELECT ON repl.repl_state, repl.repl_tables TO {role}",
    "zurich": "GRANT SELECT ON sluice_position TO {role}",
}


@pytest.fixture(scope="module")
def world(server, tmp_path_factory):
    """A slave, and a role on either side that can write nothing, not even a temporary table."""
    path = tmp_path_factory.mktemp("reading") / "world"
    made = UpdatingWorld(server, path, DDL, ["public.keyed", "public.heap"], {}, slaves=["zurich"])
    roles = {side: f"reads_{made.infos[side].database}" for side in RIGHTS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEALED_ENV, seal(made.infos))
        made.update()
        made.end_update()
        for side, role in roles.items():
            database = made.infos[side].database
            made.reader(side).execute(
                f"CREATE ROLE {role} LOGIN PASSWORD 'x'; ALTER ROLE {role} SET default_transaction_read_only = on;"
                f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC; GRANT CONNECT ON DATABASE {database} TO {role};"
                f"GRANT USAGE ON SCHEMA public TO {role}; GRANT SELECT ON keyed, heap TO {role};"
                + RIGHTS[side].format(role=role)
            )
            made.infos[f"reads_{side}"] = replace(made.infos[side], login=role, password="x")
        made.configure(
            lambda settings: (
                settings["sources"][SOURCE].update(reading_connection="reads_master"),
                settings["slaves"]["zurich"].update(reading_connection="reads_zurich"),
            )
        )
        yield made
    for side, role in roles.items():
        made.reader(side).execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
    made.close()
    server.drop_databases([made.infos[name] for name in ("control", *RIGHTS)])


@pytest.fixture
def compared(world):
    """Compares as the job does, by the roles that may only read."""
    context = world.context.for_reading(SOURCE, world.slaves)

    def compare(**asked):
        with world.running():
            return verify(context, VerifyRequest(SOURCE, world.slaves, **asked), compare_here, 60)["slaves"]["zurich"]

    yield compare
    context.store.close()


@pytest.mark.full
def test_all_rows_and_samples_are_compared(world, compared):
    assert compared()["compared"] == 2150
    assert compared(at_most=1 / 100)["sample"]["public.keyed"]["below"] <= 1 / 100
    slave = world.reader("zurich")
    slave.execute("UPDATE keyed SET note = NULL WHERE id = 7; DELETE FROM heap WHERE a = 9")
    try:
        with pytest.raises(
            SluiceError, match=r"keyed on zurich: 0 missing, 0 extra, 1 changed; public.heap on zurich: 3 missing"
        ):
            compared()
    finally:
        slave.execute(
            "UPDATE keyed SET note = 'note 7' WHERE id = 7;INSERT INTO heap SELECT 9, 'note' FROM generate_series(1, 3)"
        )


def test_check_looks_at_them(world):
    found = {one.subject: one for one in check.findings(world.context)}
    assert found[f"comparisons of {SOURCE}"].good
    assert found["comparisons of zurich"].good
    assert [one.subject for one in check.check_connection(world.context, "reads_zurich")] == ["comparisons of zurich"]


def test_a_table_that_such_a_role_may_not_read_is_named(world, compared):
    role = world.infos["reads_zurich"].login
    world.reader("zurich").execute(f"REVOKE SELECT ON heap FROM {role}")
    try:
        with pytest.raises(SluiceError, match=r"SLC-033: comparing public.heap: permission denied for table heap"):
            compared()
    finally:
        world.reader("zurich").execute(f"GRANT SELECT ON heap TO {role}")
