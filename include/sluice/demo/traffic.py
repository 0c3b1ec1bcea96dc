"""The traffic at the airports of the demo: one function a kind of transaction, each on the session it is given.

Together they do what makes replication hard: keys that change, parents and children that come and go in one
transaction, work that is thrown away whole or in part, many rows at once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import psycopg

from sluice.vendors.postgresql.session import Connection

# year, month, day, carrier, flight, origin
Flight = tuple[int, int, int, str, int, str]

_KEY = "year = %s AND month = %s AND day = %s AND carrier = %s AND flight = %s AND origin = %s"
_SCHEDULE = (
    "INSERT INTO flights (year, month, day, sched_dep_time, sched_arr_time, carrier, flight, tailnum, origin, dest,"
    " distance, hour, minute, time_hour) SELECT 2014, month, day, sched_dep_time, sched_arr_time, %s, %s, tailnum,"
    f" origin, dest, distance, hour, minute, time_hour + interval '1 year' FROM flights WHERE {_KEY}"
)
_ORIGINS = ("EWR", "JFK", "LGA")


@dataclass
class Desk:
    """One worker of the airline: what it knows, and the numbers that only it gives out."""

    number: int
    dice: random.Random
    known: Sequence[Flight]
    fresh: list[Flight] = field(default_factory=list)
    serial: count[int] = field(default_factory=count)

    def some_flight(self) -> Flight:
        """A flight that exists, or did once."""
        return self.dice.choice(self.fresh if self.fresh and self.dice.random() < 0.3 else self.known)

    def new_number(self) -> int:
        """A flight number that is free."""
        return 100_000 * (self.number + 1) + next(self.serial)


def sample(session: Connection, seed: int) -> list[Flight]:
    """Some thousand flights to work on."""
    rows = session.execute(
        "SELECT year, month, day, carrier, flight, origin FROM flights TABLESAMPLE SYSTEM (1) REPEATABLE (%s)"
        " ORDER BY 1, 2, 3, 4, 5, 6",
        [seed],
    )
    return [(row[0], row[1], row[2], row[3], row[4], row[5]) for row in rows]


def delay(session: Connection, desk: Desk) -> None:
    """A flight leaves late."""
    late = desk.dice.randint(-10, 300)
    session.execute(
        f"UPDATE flights SET dep_delay = %s, arr_delay = %s WHERE {_KEY}", [late, late - 5, *desk.some_flight()]
    )


def schedule(session: Connection, desk: Desk) -> None:
    """A flight is planned for the next year."""
    like = desk.dice.choice(desk.known)
    number = desk.new_number()
    session.execute(_SCHEDULE, [like[3], number, *like])
    desk.fresh.append((2014, like[1], like[2], like[3], number, like[5]))


def cancel(session: Connection, desk: Desk) -> None:
    """A planned flight is struck off."""
    if desk.fresh:
        flight = desk.fresh.pop(desk.dice.randrange(len(desk.fresh)))
        session.execute(f"DELETE FROM flights WHERE {_KEY}", flight)


def renumber(session: Connection, desk: Desk) -> None:
    """A flight takes the number of its neighbour, which may be taken."""
    session.execute(f"UPDATE flights SET flight = flight + 1 WHERE {_KEY}", desk.some_flight())


def replace_plane(session: Connection, desk: Desk) -> None:
    """A plane is bought and flies at once; an old one of ours goes: three statements on two tables."""
    tail = f"S{desk.number}{next(desk.serial):06d}"
    session.execute(
        "INSERT INTO planes (tailnum, year, type, manufacturer, model, engines, seats, engine)"
        " VALUES (%s, 2013, 'Fixed wing multi engine', 'AIRBUS', 'A320-214', 2, %s, 'Turbo-fan')",
        [tail, desk.dice.randint(120, 220)],
    )
    session.execute(f"UPDATE flights SET tailnum = %s WHERE {_KEY}", [tail, *desk.some_flight()])
    session.execute(
        "DELETE FROM planes WHERE tailnum = (SELECT min(tailnum) FROM planes WHERE tailnum LIKE %s) AND random() < 0.9",
        [f"S{desk.number}%"],
    )


def found_airline(session: Connection, desk: Desk) -> None:
    """An airline appears with its first flights, and an earlier one vanishes with its own."""
    code = f"{desk.number}-{next(desk.serial)}"
    old = session.execute("SELECT carrier FROM airlines WHERE carrier LIKE %s", [f"{desk.number}-%"]).fetchall()
    session.execute("INSERT INTO airlines (carrier, name) VALUES (%s, %s)", [code, f"Übersee & Söhne <{code}>"])
    for _ in range(3):
        session.execute(_SCHEDULE, [code, desk.new_number(), *desk.dice.choice(desk.known)])
    for (carrier,) in old:
        session.execute("DELETE FROM flights WHERE carrier = %s AND year = 2014", [carrier])
        session.execute("DELETE FROM airlines WHERE carrier = %s", [carrier])


def measure(session: Connection, desk: Desk) -> None:
    """A station sends its day again: some twenty rows by one statement."""
    session.execute(
        "UPDATE weather SET temp = temp + 0.1, wind_gust = NULL WHERE origin = %s AND month = %s AND day = %s",
        [desk.dice.choice(_ORIGINS), desk.dice.randint(1, 12), desk.dice.randint(1, 28)],
    )


def change_mind(session: Connection, desk: Desk) -> None:
    """Much is done, and none of it holds."""
    delay(session, desk)
    session.execute(f"DELETE FROM flights WHERE {_KEY}", desk.some_flight())
    measure(session, desk)
    raise psycopg.Rollback


def correct(session: Connection, desk: Desk) -> None:
    """Part of the work is undone by a savepoint, the rest holds."""
    delay(session, desk)
    with session.transaction():
        measure(session, desk)
        session.execute(f"DELETE FROM flights WHERE {_KEY}", desk.some_flight())
        raise psycopg.Rollback
    with session.transaction():
        delay(session, desk)


Action = Callable[[Connection, Desk], None]

# How often of a hundred times.
WEIGHTS: dict[Action, int] = {
    delay: 40,
    schedule: 18,
    cancel: 12,
    renumber: 6,
    replace_plane: 8,
    found_airline: 3,
    measure: 3,
    change_mind: 5,
    correct: 5,
}
