"""Every type goes all the way and arrives exactly: loaded, inserted, updated, as a key, without a key, deleted."""

from __future__ import annotations

import re

import pytest
from psycopg import sql
from support.exactly import differences, pinned, text_of
from support.values import GROUPS, UNORDERED, Values

from sluice.errors import SluiceError
from sluice.messages.column_literal import BOOLEAN_WORDS, parse

pytestmark = [pytest.mark.postgres]

# For each type: a value beside a key, a value that is the key, rows without a key.
BESIDE = "CREATE TABLE v{0} (id int PRIMARY KEY, v {1}, w {1}, note text)"
AS_KEY = "CREATE TABLE k{0} (note int, k {1} PRIMARY KEY)"
WITHOUT = "CREATE TABLE h{0} (v {1}, note int)"

# What a writer's session prints has nothing to do with what is captured.
ODD_SETTINGS = """
    SET datestyle = 'SQL, DMY'; SET intervalstyle = 'sql_standard'; SET timezone = 'Asia/Kolkata';
    SET extra_float_digits = -15; SET bytea_output = 'escape'; SET xmloption = 'document';
    SET search_path = public, repl
"""


def tables(values: Values) -> dict[str, str]:
    """The tables' names and how they are made."""
    forms = {"v": BESIDE, "h": WITHOUT, "k": AS_KEY}
    return {
        f"{letter}{number}": form.format(number, type_)
        for number, type_ in enumerate(values)
        for letter, form in forms.items()
        if letter != "k" or type_ not in UNORDERED
    }


@pytest.mark.full
@pytest.mark.parametrize("values", GROUPS.values(), ids=GROUPS)
def test_every_value_arrives_exactly(updating, values):
    made = tables(values)
    world = updating("; ".join(made.values()), [f"public.{name}" for name in made])
    world.master.execute(ODD_SETTINGS)
    fill(world, values, 0, keys=False)
    world.update()
    world.catch_up()
    assert differences(world) == {}
    fill(world, values, 100, keys=True)
    check_literals(world, values)
    world.catch_up()
    assert differences(world) == {}
    change(world, values)
    world.catch_up()
    assert differences(world) == {}
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}
    planted = {
        number: world.reader("zurich").execute(f"UPDATE v{number} SET w = NULL WHERE w IS NOT NULL").rowcount
        for number in range(len(values))
    }
    assert all(planted.values())
    with pytest.raises(SluiceError) as caught:
        world.verify()
    said = re.findall(r"(\S+) on (\w+): 0 missing, 0 extra, (\d+) changed", caught.value.fact)
    assert sorted(said) == sorted((f"public.v{number}", "zurich", str(count)) for number, count in planted.items())
    assert caught.value.fact.count(" missing, ") == len(said), "and of no other table or slave"


@pytest.mark.full
def test_every_code_point_arrives(updating):
    tables = ("loaded", "streamed")
    ddl = "".join(f"CREATE TABLE {one} (id int PRIMARY KEY, v text);" for one in tables)
    world = updating(ddl, [f"public.{one}" for one in tables])
    points = "FROM generate_series(1, 1114111) AS c WHERE c NOT BETWEEN 55296 AND 57343 GROUP BY c / 4096"
    fill = f"INSERT INTO {{}} SELECT min(c), string_agg(chr(c), '' ORDER BY c) {points}"
    world.master.execute(fill.format("loaded").encode())
    world.update()
    world.master.execute(fill.format("streamed").encode())
    said = (parse(content)["v"] for (content,) in world.master.execute("SELECT content FROM repl_items").fetchall())
    assert set().union(*said) == {chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000}
    assert world.verify(initial=True) == {"zurich": 0, "geneva": 0}


def run(world, statement: str, table: str, *values: object) -> None:
    """One statement on the master; the values are typed in as they are."""
    world.master.execute(sql.SQL(statement).format(sql.Identifier(table)), values)


def fill(world, values: Values, base: int, *, keys: bool) -> None:
    """Rows with each value, and with NULL; twice where there is no key."""
    for number, literals in enumerate(values.values()):
        with world.master.transaction():
            for place, one in enumerate(literals):
                run(world, "INSERT INTO {} VALUES (%s, %s, %s, 'n')", f"v{number}", base + place, one, literals[0])
                run(world, "INSERT INTO {} VALUES (%s, 1), (%s, 1), (NULL, 2), (NULL, NULL)", f"h{number}", one, one)
                if keys and f"k{number}" in tables(values):
                    run(world, "INSERT INTO {} VALUES (1, %s) ON CONFLICT DO NOTHING", f"k{number}", one)
            run(world, "INSERT INTO {} VALUES (%s, NULL, NULL, NULL)", f"v{number}", base + 99)


def change(world, values: Values) -> None:
    """Each column updated alone and together, to and from NULL, the key moved, rows deleted; a transaction each."""
    for number, (type_, literals) in enumerate(values.items()):
        beside, without, key = f"v{number}", f"h{number}", f"k{number}"
        for place, one in enumerate(literals):
            run(world, "UPDATE {} SET v = w, w = v WHERE id = %s", beside, place)
            run(world, "UPDATE {} SET note = note || 'x' WHERE id = %s", beside, place)
            run(world, "UPDATE {} SET v = %s WHERE id = %s", beside, literals[place - 1], 100 + place)
            run(world, "UPDATE {} SET id = id + 1000, w = NULL WHERE id = %s", beside, 100 + place)
            same = f"v::text = %s::{type_}::text"
            run(world, f"DELETE FROM {{0}} WHERE ctid = (SELECT ctid FROM {{0}} WHERE {same} LIMIT 1)", without, one)
        run(world, "UPDATE {} SET v = %s, w = %s WHERE id = 99", beside, literals[-1], literals[0])
        run(world, "DELETE FROM {} WHERE id = %s", beside, 0)
        run(world, "UPDATE {} SET note = %s WHERE v IS NULL AND note IS NULL", without, 7)
        run(world, "UPDATE {} SET v = %s WHERE note = 2", without, literals[-1])
        if key in tables(values):
            run(world, "UPDATE {} SET note = note + %s", key, 1)
            run(world, f"DELETE FROM {{}} WHERE k = %s::{type_}", key, literals[0])
            if len(literals) > 1:
                run(world, f"UPDATE {{}} SET k = %s WHERE k = %s::{type_}", key, literals[0], literals[-1])


def check_literals(world, values: Values) -> None:
    """What ITEMS says of each inserted row, read back, is the row, and its booleans are words."""
    session = pinned(world, "master")
    for table, type_ in ((f"v{number}", type_) for number, type_ in enumerate(values)):
        items = world.master.execute(
            "SELECT content FROM repl_items WHERE tablename = %s AND db_action = 'INSERT'", [table]
        ).fetchall()
        said = {cells["id"]: _texts(cells) for cells in map(parse, (content for (content,) in items))}
        columns = sql.SQL(", ").join(map(text_of, ("id", "v", "w", "note")))
        found = session.execute(
            sql.SQL("SELECT {} FROM public.{} WHERE id >= 100").format(columns, sql.Identifier(table))
        )
        words = BOOLEAN_WORDS if type_ == "boolean" else {}
        assert said == {row[0]: (row[0], *(words.get(cell, cell) for cell in row[1:])) for row in found}


def _texts(cells: dict[str, str | bytes | None]) -> tuple[str | None, ...]:
    return tuple("\\x" + cell.hex() if isinstance(cell, bytes) else cell for cell in cells.values())
