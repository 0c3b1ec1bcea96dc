"""Constant writes to a master, by several sessions that do everything that has ever broken a replication."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import psycopg

DDL = """
CREATE TABLE parent (id int PRIMARY KEY, note text, u int UNIQUE);
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE, raw bytea, amount numeric);
CREATE TABLE shift (id int PRIMARY KEY DEFERRABLE, label text);
CREATE TABLE heap (a int, b text);
INSERT INTO parent SELECT g, 'note ' || g, g FROM generate_series(1, 1500) AS g;
INSERT INTO child SELECT g, 1 + g % 1500, decode(md5(g::text), 'hex'), g / 7.0 FROM generate_series(1, 2000) AS g;
INSERT INTO shift SELECT g, 'label ' || g FROM generate_series(1, 30) AS g;
INSERT INTO heap SELECT g % 50, nullif('b' || g % 3, 'b0') FROM generate_series(1, 1000) AS g;
"""
TABLES = ("public.parent", "public.child", "public.shift", "public.heap")

Session = psycopg.Connection[tuple[Any, ...]]


def jobs(connect: Callable[[], Session]) -> list[Callable[[], None]]:
    """One job a session; each call is a transaction or a few."""
    return [
        Writer(connect(), 1).mixed,
        Writer(connect(), 2).shifts,
        Writer(connect(), 3).long_transactions,
        OutOfOrder(connect(), connect()).commits,
    ]


class Writer:
    """One session, with chances of its own."""

    def __init__(self, session: Session, seed: int) -> None:
        self._session = session
        self._chance = random.Random(seed)
        self._session.execute("SET lock_timeout = '20s'")

    def mixed(self) -> None:
        """Transactions over several tables, a fifth of them rolled back; cascades among them."""
        chance = self._chance
        execute = self._session.execute
        number = chance.randrange(1, 1500)
        with self._session.transaction(force_rollback=chance.random() < 0.2):
            execute("UPDATE parent SET note = note || 'k', u = -u WHERE id = %s", [number])
            execute("INSERT INTO heap VALUES (%s, 'new'), (%s, NULL)", [number % 50, number % 50])
            execute("DELETE FROM heap WHERE ctid IN (SELECT ctid FROM heap WHERE a = %s LIMIT 1)", [number % 50])
            if chance.random() < 0.3:
                execute("DELETE FROM parent WHERE id = %s", [number])
                execute("INSERT INTO parent VALUES (%s, 'again', %s)", [number, number])
                execute("INSERT INTO child SELECT max(id) + 1, %s, '\\x00', 0.1 FROM child", [number])

    def shifts(self) -> None:
        """Every key of a table moves by one: for a moment two rows bear each."""
        step = self._chance.choice([-1, 1])
        self._session.execute("UPDATE shift SET id = id + %s, label = label || '.'", [step])

    def long_transactions(self) -> None:
        """A transaction that stays open for a while, over whatever snapshot is taken meanwhile."""
        with self._session.transaction(force_rollback=self._chance.random() < 0.3):
            self._session.execute("INSERT INTO heap VALUES (99, 'long')")
            self._session.execute(
                "UPDATE child SET amount = amount + 1 WHERE id %% 97 = %s", [self._chance.randrange(97)]
            )
            self._session.execute("SELECT pg_sleep(%s)", [self._chance.random() * 0.4])


class OutOfOrder:
    """Two sessions: the one that draws its keys first commits last."""

    def __init__(self, first: Session, second: Session) -> None:
        self._first = first
        self._second = second
        self._number = 0

    def commits(self) -> None:
        """One round."""
        self._number += 1
        with self._first.transaction():
            self._first.execute("INSERT INTO heap VALUES (%s, 'first')", [self._number])
            with self._second.transaction():
                self._second.execute("INSERT INTO heap VALUES (%s, 'second')", [self._number])
            self._second.execute("SELECT pg_sleep(0.02)")
