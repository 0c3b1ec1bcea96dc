"""Mixed changes over three tables with foreign keys, in transactions of a few changes each."""

from __future__ import annotations

import random
from itertools import islice

import psycopg
from psycopg import sql

from sluice.runtime.terminal import ProgressStep
from sluice.vendors.postgresql.session import Connection

TABLES: dict[str, dict[str, object]] = {"public.customers": {}, "public.orders": {}, "public.lines": {}}
NAMES = tuple(name.partition(".")[2] for name in TABLES)
_CREATE = """
CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL, balance numeric(14, 2) NOT NULL, seen timestamptz);
CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint NOT NULL REFERENCES customers, state text NOT NULL,
                     placed timestamptz NOT NULL);
CREATE TABLE lines (order_id bigint REFERENCES orders, number integer, article text NOT NULL, price numeric(12, 2),
                    PRIMARY KEY (order_id, number));
CREATE INDEX ON orders (customer)
"""
_FILL = """
INSERT INTO customers SELECT i, 'customer ' || i, i / 7.0, '2013-01-01Z'::timestamptz + i * interval '1 s'
    FROM generate_series(1, {rows}) AS i;
INSERT INTO orders SELECT i, i, 'placed', '2013-01-01Z'::timestamptz + i * interval '1 s'
    FROM generate_series(1, {rows}) AS i;
INSERT INTO lines SELECT i, 1, md5(i::text), i / 3.0 FROM generate_series(1, {rows}) AS i
"""


_A_MESSAGE = 200


def create(session: Connection, rows: int) -> None:
    """The tables, each with so many rows."""
    session.execute(_CREATE)
    session.execute(sql.SQL(_FILL).format(rows=sql.Literal(rows)))
    session.execute("ANALYZE")


def change(session: Connection, orders: Orders, wanted: int, each: int, step: ProgressStep | None = None) -> int:
    """At least `wanted` changes in transactions of about `each`. Returns how many rows were changed."""
    session.execute("SET synchronous_commit = off")
    # Many transactions a message: the master's work is not what is measured.
    with psycopg.ClientCursor(session) as cursor:
        made = 0
        while made < wanted:
            script = []
            for _ in range(min(_A_MESSAGE, -(-(wanted - made) // each))):
                size = orders.dice.randint(1, 2 * each - 1)
                work = [cursor.mogrify(text, values) for text, values in islice(orders, size)]
                script += ["BEGIN", *work, "COMMIT"]
                made += size
            cursor.execute(";".join(script).encode())
            if step:
                step.update(f"{made:,}")
    return made


class Orders:
    """An endless stream of statements, each of which changes exactly one row of fresh tables of so many rows."""

    def __init__(self, rows: int) -> None:
        self.dice = random.Random(2013)
        self._customers = self._orders = rows
        self._lines = dict.fromkeys(range(1, rows + 1), 1)

    def __iter__(self) -> Orders:
        return self

    def __next__(self) -> tuple[str, list[object]]:
        roll = self.dice.random()
        if roll < 0.08:
            self._customers += 1
            return "INSERT INTO customers VALUES (%s, %s, 0, now())", [self._customers, f"new, of {self._customers}"]
        if roll < 0.20:
            self._orders += 1
            self._lines[self._orders] = 0
            customer = self.dice.randint(1, self._customers)
            return "INSERT INTO orders VALUES (%s, %s, 'placed', now())", [self._orders, customer]
        order = self.dice.randint(1, self._orders)
        number = self._lines.get(order)
        if number is not None and roll < 0.45:
            self._lines[order] = number + 1
            return "INSERT INTO lines VALUES (%s, %s, 'an ''article''', %s)", [order, number + 1, round(roll * 100, 2)]
        if number and roll < 0.58:
            self._lines[order] = number - 1
            return "DELETE FROM lines WHERE order_id = %s AND number = %s", [order, number]
        if number == 0:
            del self._lines[order]
            return "DELETE FROM orders WHERE id = %s", [order]
        if number and roll < 0.75:
            return "UPDATE lines SET price = price + 1 WHERE order_id = %s AND number = %s", [order, number]
        customer = self.dice.randint(1, self._customers)
        return "UPDATE customers SET balance = balance + 1, seen = now() WHERE id = %s", [customer]
