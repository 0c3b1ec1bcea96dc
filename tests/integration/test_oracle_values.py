"""Values of Oracle's types in columns of PostgreSQL of the type that the log names: each comes back as it was (R7)."""

from __future__ import annotations

import psycopg
from psycopg import sql
from support.oracle_values import VALUES

from sluice.libpq import parameters
from sluice.vendors.postgresql.session import PINNED


def test_a_column_of_the_type_that_the_log_names_holds_every_value(server):
    with psycopg.connect(**parameters(server.create_database(), "test"), autocommit=True) as session:
        for name, value in PINNED.items():
            session.execute(sql.SQL("SELECT set_config({}, {}, false)").format(name, value))
        for kind, (type_name, pairs) in VALUES.items():
            session.execute(sql.SQL("CREATE TEMP TABLE held (number int, value {})").format(sql.SQL(type_name)))
            texts = [meant for _, meant in pairs]
            for number, text in enumerate(texts):
                session.execute("INSERT INTO held VALUES (%s, %s)", [number, text], prepare=False)
            # By what the type prints: a cast of a character(n) to a text would take its blanks away.
            read = session.execute("SELECT format('%s', value) FROM held ORDER BY number").fetchall()
            assert [one for (one,) in read] == texts, kind
            session.execute("DROP TABLE held")
