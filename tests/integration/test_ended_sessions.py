"""Which sessions are ended for what they are called: those of our role, whatever strangers call theirs (R6)."""

from __future__ import annotations

import psycopg
import psycopg.sql
import pytest

from sluice.vendors.postgresql import migrations
from sluice.vendors.postgresql.session import composed, connect

pytestmark = [pytest.mark.postgres]

NAME = "sluice load flights->zurich"
# What ends sessions by that name, or finds those to be ended, with its values.
ENDING = {
    "statements/end": {"session": NAME},
    "load/end_programs": {"application": NAME},
    "position/holder": {"source": "flights", "slave": "zurich", "loads": [NAME]},
    "capture/queue/holder": {},
}


def test_a_session_of_a_stranger_is_not_ended_for_its_name(server):
    ours, his = server.create_database(superuser=False), server.create_database(superuser=False)
    with server.cluster.admin() as admin:
        admin.execute(f"GRANT CONNECT ON DATABASE {ours.database} TO {his.login}")
    parts = migrations.parts_of_slave("public")
    with connect(ours, "test", autocommit=True) as session:
        session.execute(composed("position/position_table", **parts))
        session.execute("CREATE TABLE public.state (backend_pid int)")
        session.execute("INSERT INTO public.sluice_position (source, slave) VALUES ('flights', 'zurich')")
        parts["state"] = psycopg.sql.Identifier("public", "state")
        for query, values in ENDING.items():
            with _named(ours, ours) as own, _named(ours, his) as stranger:
                session.execute("DELETE FROM public.state")
                for pid in (one.info.backend_pid for one in (own, stranger)):
                    session.execute("INSERT INTO public.state VALUES (%s)", [pid])
                found = session.execute(composed(query, **parts), values).fetchall()
                if query.endswith("holder"):
                    assert found == [(own.info.backend_pid,)], query
                else:
                    assert found == [(True,)], query
                    with pytest.raises(psycopg.OperationalError):
                        own.execute("SELECT")
                stranger.execute("SELECT")
    server.drop_databases([ours, his])


def _named(where, who):
    session = psycopg.connect(
        host=where.host, port=where.port, dbname=where.database, user=who.login, password=who.password
    )
    session.execute("SELECT set_config('application_name', %s, false)", [NAME])
    return session
