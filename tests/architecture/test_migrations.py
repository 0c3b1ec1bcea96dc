"""The control store's migrations make exactly the tables that the code declares, on a real database."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from support.store_tables import metadata

from sluice.paths import PROJECT
from sluice.store.engine import Store


@pytest.fixture
def store(server):
    made = Store(server.create_database())
    yield made
    made.close()


@pytest.mark.postgres
def test_migrations_make_what_the_code_declares(store):
    for _ in range(2):
        store.migrate()
    with store.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_migrations_are_numbered_in_one_line():
    script = ScriptDirectory(str(PROJECT / "sql" / "control"))
    revisions = list(script.walk_revisions())
    assert len(script.get_heads()) == 1
    names = sorted(file.name for file in (PROJECT / "sql" / "control" / "versions").glob("*.py"))
    assert [int(name[:4]) for name in names] == list(range(1, len(revisions) + 1))


@pytest.mark.parametrize("folder", ["source", "slave"])
def test_upgrades_are_numbered_in_one_line_from_the_second_version_on(folder):
    files = sorted((PROJECT / "sql" / "postgresql" / "migrations" / folder).glob("*.sql"))
    assert [int(file.name[:3]) for file in files] == list(range(2, len(files) + 2))
