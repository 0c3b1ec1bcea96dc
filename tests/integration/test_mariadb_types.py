"""Tables as a slave on MariaDB makes them, and what it refuses by name before it writes it (R7)."""

from __future__ import annotations

import pytest
from support.logical import COLUMNS, NAMES, VALUES, of_maria
from support.mariadb import SERVERS

from sluice.errors import RowsDiffer, SluiceError
from sluice.vendors.mariadb.session import connect, execute
from sluice.vendors.mariadb.write import bulk

pytestmark = [pytest.mark.postgres]

# Boundary values that columns of these types cannot hold.
UNFIT = {
    "numeric(38,10)": {"NaN"},
    "real": {"NaN", "Infinity", "-Infinity", "-0"},
    "double precision": {"NaN", "-Infinity", "-0"},
    "date": {"4713-01-01 BC", "-infinity", "infinity", "0001-12-31 BC", "5874897-12-31"},
    "timestamp without time zone": set(VALUES["timestamp without time zone"]) - {"2024-02-03 04:05:06.1"},
    "timestamp with time zone": {"0044-03-15 12:00:00.000001+00 BC", "infinity"},
}


# Lines of the first table are given to the server as they are; those of the second one have escapes of COPY alone.
SIGNS = r"""
CREATE TABLE plain (id int PRIMARY KEY, a text, b numeric(9,2), c double precision, d date, e timestamp);
INSERT INTO plain SELECT row_number() OVER (), sign || repeat(before, 3) || sign, place / 4.0, place / 3.0,
    '2024-02-29', '2024-02-03 04:05:06.1'
FROM unnest(ARRAY['', '\', E'\t', E'\n', E'\r', E'\b', '\N', 'N', '\0', E'\x1a', '\Z', '\.', '''', '"', 'é', '😀'])
         WITH ORDINALITY AS s (sign, place),
     unnest(ARRAY['', '\', 'b']) AS before;
INSERT INTO plain VALUES (0), (1000);
CREATE TABLE other AS TABLE plain;
ALTER TABLE other ADD PRIMARY KEY (id);
INSERT INTO other VALUES (2000, E'\f\\f'), (2001, E'\v\\v');
"""


@pytest.mark.full(but=["mariadb, loaded"])
@pytest.mark.parametrize(
    ("slave_server", "few"),
    [("maria_server", 0), ("maria_server", 1_000), ("mysql_server", 0)],
    indirect=["slave_server"],
    ids=["mariadb, loaded", "mariadb, by statements", "mysql, loaded"],
)
def test_a_table_that_the_slave_makes_holds_every_value_that_fits_and_refuses_others(maria, monkeypatch, few):
    monkeypatch.setattr(bulk, "_FEW", few)
    tables = f"CREATE TABLE t (id int PRIMARY KEY, {COLUMNS}); {SIGNS}"
    world = maria(tables, ["public.t", "public.plain", "public.other"], slaves=("zurich",), update=False)
    fitting = [[value for value in values if value not in UNFIT.get(kind, ())] for kind, values in VALUES.items()]
    rows = [[values[place] if place < len(values) else None for values in fitting] for place in range(8)]
    places = ", ".join(["%s"] * (len(NAMES) + 1))
    for base in (0, 100):
        for place, row in enumerate(rows):
            world.master.execute(f"INSERT INTO t VALUES ({places})", [base + place, *row])
        if base:
            assert world.verify(initial=True) == {"zurich": 0}
        else:
            world.update()
    assert of_maria(world, "zurich") == {base + place: row for base in (0, 100) for place, row in enumerate(rows)}
    # What is refused is so before a server sees it: that is asked once.
    for number, (kind, values) in enumerate(UNFIT.items() if few else ()):
        name = NAMES[list(VALUES).index(kind)]
        for value in sorted(values):
            world.master.execute(f"UPDATE t SET {name} = %s WHERE id = {number}", [value])
            world.publish()
            with pytest.raises(SluiceError, match=rf"SLC-431: the column {name} of .*cannot hold"):
                world.drain()
            # Both changes are one batch: what is there at its end counts.
            world.let_leases_expire()
            world.master.execute(f"UPDATE t SET {name} = NULL WHERE id = {number}")
            world.publish()
            world.drain()


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_rows_without_a_key_are_found_by_values_of_every_type(maria, slave_server):
    world = maria(f"CREATE TABLE t (id int, {COLUMNS})", ["public.t"], slaves=("zurich",), update=False)
    fitting = [[value for value in values if value not in UNFIT.get(kind, ())] for kind, values in VALUES.items()]
    places = ", ".join(["%s"] * (len(NAMES) + 1))
    for place in range(8):
        row = [values[place] if place < len(values) else None for values in fitting]
        for _ in range(2):
            world.master.execute(f"INSERT INTO t VALUES ({places})", [place, *row])
    world.update()
    world.verify(initial=True)
    world.master.execute("DELETE FROM t WHERE ctid IN (SELECT min(ctid) FROM t GROUP BY id)")
    assert world.verify() == {"zurich": 0}
    world.master.execute("DELETE FROM t")
    assert world.verify() == {"zurich": 0}
    assert slave_server.execute(f"SELECT COUNT(*) FROM {world.infos['zurich'].database}.t") == [(0,)]


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_values_longer_than_half_of_a_packet_of_the_slave_arrive_whole_or_stop_it(maria, slave_server):
    """R7: a function of the server whose result would be longer gives NULL there. Bytes are sent twice as long."""
    most = 1 << 17
    world = maria(
        "CREATE TABLE t (id int PRIMARY KEY, v bytea, w text)", ["public.t"], slaves=("zurich",), update=False
    )
    world.master.execute("INSERT INTO t SELECT g, '\\x01', repeat('a', 2000) FROM generate_series(1, 200) AS g")
    world.master.execute(f"UPDATE t SET w = repeat('b', {most * 9 // 16}) WHERE id = 200")
    table = f"{world.infos['zurich'].database}.t"
    longest = f"SELECT LENGTH(w), SHA2(w, 256) FROM {table} WHERE id = %s"
    with slave_server.most_allowed(most):
        world.update()
        assert world.verify(initial=True) == {"zurich": 0}
        world.master.execute("UPDATE t AS one SET w = (SELECT w FROM t WHERE id = 200) WHERE id = 1")
        assert world.verify() == {"zurich": 0}
        ours = world.master.execute("SELECT length(w), encode(sha256(w::bytea), 'hex') FROM t WHERE id = 1").fetchall()
        assert slave_server.execute(longest, 1) == slave_server.execute(longest, 200) == ours
        slave_server.execute(f"UPDATE {table} SET w = NULL WHERE id = 1")
        with pytest.raises(RowsDiffer):
            world.verify()
        world.master.execute(f"UPDATE t SET v = decode(repeat('ff00', {most * 9 // 32}), 'hex') WHERE id = 2")
        world.publish()
        with pytest.raises(SluiceError, match=r"SLC-431.*max_allowed_packet"):
            world.drain()


def columns(count, kind):
    """Columns of one kind, behind a key."""
    return ", ".join(["id int PRIMARY KEY", *(f"c{number} {kind}" for number in range(1, count))])


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_texts_that_make_a_row_too_long_are_kept_apart_from_it(maria, slave_server):
    """A row has 65,535 bytes at most without its long texts: 64 columns of 255 signs."""
    texts = "character varying(255)"
    ddl = f"CREATE TABLE long ({columns(71, texts)}); CREATE TABLE grows ({columns(64, texts)})"
    world = maria(ddl, ["public.long", "public.grows"], slaves=("zurich",), update=False)
    world.master.execute(
        "INSERT INTO long (id, c1, c70) VALUES (1, 'a', 'b'); INSERT INTO grows (id, c63) VALUES (1, 'a')"
    )
    world.update()
    world.master.execute(
        f"ALTER TABLE grows ADD more {texts}, ADD again {texts}; INSERT INTO grows (id, again) VALUES (2, '')"
    )
    world.master.execute("UPDATE long SET c1 = 'c'; UPDATE grows SET c1 = 'd'")
    assert world.verify(initial=True) == {"zurich": 0}
    world.master.execute("ALTER TABLE grows DROP c5, DROP c6; UPDATE grows SET more = 'e'")
    assert world.verify() == {"zurich": 0}


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_what_only_the_server_knows_to_be_too_much_is_told_by_the_names_of_table_and_master(maria, slave_server):
    """Its database is not there yet, so nothing can be tried beforehand. Rows of other tables stay."""
    world = maria(f"CREATE TABLE a (id int); CREATE TABLE z ({columns(1100, 'int')})", ["public.a", "public.z"],
                  slaves=("zurich",), update=False)  # fmt: skip
    info = world.infos["zurich"]
    slave_server.execute(f"CREATE TABLE {info.database}.a (id int)")
    slave_server.execute(f"INSERT INTO {info.database}.a VALUES (9)")
    other = f"{info.database}_other"
    slave_server.execute(f"GRANT ALL PRIVILEGES ON {other}.* TO {info.login}@'127.0.0.1'")
    mapped = {"public.z": {"as": f"{other}.z"}}
    world.configure(lambda settings: settings["slaves"]["zurich"].update(tables=mapped))
    with pytest.raises(SluiceError, match=rf"SLC-432: .*{other}\.z .*Too many columns.*\(the master's public\.z\)"):
        world.update()
    assert slave_server.execute(f"SELECT id FROM {info.database}.a") == [(9,)]


OBSTACLES = {
    "columns": (columns(1100, "int"), "", r"SLC-432.*Too many columns.*\(the master's public\.t0\)"),
    "bytes": (columns(1000, "bigint"), "", r"SLC-432.*Row size too large.*\(the master's public\.t1\)"),
    "long key": (
        "a varchar(255), b varchar(255), c varchar(255), d varchar(255), PRIMARY KEY (a, b, c, d)",
        "",
        r"SLC-432.*key was too long.*\(the master's public\.t2\)",
    ),
    "a key of text": ("id text PRIMARY KEY", "", "SLC-432.*id is in the primary key"),
    "computed": ("id int PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED", "", "SLC-432.*computes twice"),
    "case": ('id int PRIMARY KEY, a int, "A" int', "", "SLC-432.*differ by their case"),
    "narrow": ("id bigint PRIMARY KEY", "CREATE TABLE {}.t (id int PRIMARY KEY)", r"SLC-073.*id is a int"),
    "collation": (
        "id int PRIMARY KEY, a text",
        "CREATE TABLE {}.t (id int PRIMARY KEY, a longtext) CHARACTER SET utf8mb4",
        "SLC-073.*a is a longtext",
    ),
    "engine": ("id int PRIMARY KEY", "CREATE TABLE {}.t (id int PRIMARY KEY) ENGINE = MyISAM", "SLC-073.*MyISAM"),
    "part of a key": (
        "name varchar(9) PRIMARY KEY",
        "CREATE TABLE {}.t (name varchar(9) COLLATE {collation}, PRIMARY KEY (name(3)))",
        "SLC-073.*the primary key of the first 3 characters of name",
    ),
    "unique": ("id int PRIMARY KEY, a int", "CREATE TABLE {}.t (id int PRIMARY KEY, a int UNIQUE)", "SLC-073.*UNIQUE"),
    "a blank at the end": ('id int PRIMARY KEY, "a " int', "", "SLC-432.*'a ' is no name there"),
    "a sign": ('id int PRIMARY KEY, "😀" int', "", "SLC-432.*'😀' has a character that names there cannot have"),
    "a blank at the end of its name": ("id int PRIMARY KEY", "", "SLC-432.*'t ' is no name there"),
    "a sign in its name": ("id int PRIMARY KEY", "", "SLC-432.*'😀' has a character that names there cannot have"),
}
NAMED = {"a blank at the end of its name": '"t "', "a sign in its name": '"😀"'}


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_what_cannot_be_exact_is_refused_before_anything_is_written(maria, slave_server):
    tables = {name: f"public.{NAMED.get(name, f't{number}')}" for number, name in enumerate(OBSTACLES)}
    ddl = "; ".join(f"CREATE TABLE {tables[name]} ({columns})" for name, (columns, _, _) in OBSTACLES.items())
    world = maria(ddl, list(tables.values()), slaves=("zurich",), update=False)
    database = world.infos["zurich"].database
    for name, (_, made, match) in OBSTACLES.items():
        others = {table: {"exclude": True} for other, table in tables.items() if other != name}
        world.configure(lambda settings, others=others: settings["slaves"]["zurich"].update(tables=others))
        relative = tables[name].removeprefix("public.")
        if made:
            there = made.replace("{}.t", f"{database}.{relative}").replace("{collation}", slave_server.kind.collation)
            slave_server.execute(there)
        with pytest.raises(SluiceError, match=match):
            world.inhibit()
    settings = {"on_existing_rows": "refuse", "tables": {table: {"exclude": True} for table in tables.values()}}
    settings["tables"].pop(tables["engine"])
    slave_server.execute(f"DROP TABLE {database}.{tables['engine'].removeprefix('public.')}")
    world.configure(lambda plain: plain["slaves"]["zurich"].update(settings))
    with pytest.raises(SluiceError, match=r"SLC-438.*on_existing_rows"):
        world.inhibit()
    there = slave_server.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = %s", database)
    assert {name for (name,) in there} == {
        tables[name].removeprefix("public.") for name in ("narrow", "collation", "part of a key", "unique")
    }


# All signs that are no letters; and as long as PostgreSQL takes names: 63 bytes, three of each sign.
ODD = ["".join(sign for sign in map(chr, range(32, 127)) if not sign.isalnum()) + "x", "表" * 21, "'; --\té ü"]


@pytest.mark.full(but=["mariadb"])
@SERVERS
def test_names_of_any_signs_stay_as_they_are(maria, slave_server):
    quoted = ['"' + name.replace('"', '""') + '"' for name in ODD]
    columns = "id int PRIMARY KEY, " + " text, ".join(quoted)
    world = maria(";".join(f"CREATE TABLE {name} ({columns} text)" for name in quoted), {"public.*": {}},
                  slaves=("zurich",), update=False)  # fmt: skip
    write = [f"INSERT INTO {name} VALUES (1, 'a', 'b', 'c'), (2, 'd', 'e', 'f')".encode() for name in quoted]
    change = [f"UPDATE {name} SET {quoted[0]} = 'g' WHERE id = 1; DELETE FROM {name} WHERE id = 2" for name in quoted]
    for statement in write:
        world.master.execute(statement)
    world.update()
    for statement in change:
        world.master.execute(statement.encode())
    assert world.verify(initial=True) == {"zurich": 0}
    database = world.infos["zurich"].database
    for name in ODD:
        table = f"{database}.`{name.replace('`', '``')}`"
        assert slave_server.execute(f"SELECT * FROM {table}") == [(1, "g", "b", "c")]
        assert [column for column, *_ in slave_server.execute(f"SHOW COLUMNS FROM {table}")] == ["id", *ODD]


@pytest.mark.full(but=["postgresql"])
@pytest.mark.parametrize("into", ["postgresql", "mariadb"])
def test_names_of_any_signs_of_a_master_on_mariadb_stay_as_they_are(binlog, into):
    quoted = ["`" + name.replace("`", "``") + "`" for name in ODD]
    columns = "id int PRIMARY KEY, " + " int, ".join(quoted)
    ddl = ";\n".join(f"CREATE TABLE {name} ({columns} int)" for name in quoted)
    world, master = binlog(ddl, ["*"], into=into, slaves=("zurich",), update=False)
    master.execute(*(f"INSERT INTO {name} VALUES (1, 2, 3, 4), (5, 6, 7, 8)" for name in quoted))
    world.update()
    master.execute(*(f"UPDATE {name} SET {quoted[0]} = 9 WHERE id = 1" for name in quoted),
                   f"ALTER TABLE {quoted[0]} RENAME COLUMN {quoted[2]} TO {quoted[2][:-1]}x`",
                   *(f"DELETE FROM {name} WHERE id = 5" for name in quoted))  # fmt: skip
    assert world.verify(initial=True) == {"zurich": 0}


def test_tables_whose_names_differ_by_case_alone_are_two_on_both_sides(binlog):
    ddl = """
CREATE TABLE t (id int PRIMARY KEY, a int);
CREATE TABLE T (id int, b int, PRIMARY KEY (b, id));
INSERT INTO t VALUES (1, 1);
INSERT INTO T VALUES (1, 2), (1, 3)"""
    world, master = binlog(ddl, ["t", "T"], into="mariadb", slaves=("zurich",))
    database = world.infos["zurich"].database
    # What refers to the one table is in the way of that one alone.
    master.server.execute(f"CREATE TABLE {database}.child (id int PRIMARY KEY, u int REFERENCES {database}.T (b))")
    with pytest.raises(SluiceError, match=rf"SLC-073: .*the slave's {database}\.T .*foreign key .* of child"):
        world.inhibit()
    master.server.execute(f"DROP TABLE {database}.child")
    master.execute("INSERT INTO t VALUES (2, 2)", "UPDATE T SET id = 7 WHERE b = 3", "DELETE FROM t WHERE id = 1")
    assert world.verify() == {"zurich": 0}
    assert master.server.execute(f"SELECT * FROM {database}.T ORDER BY b") == [(1, 2), (7, 3)]


def test_no_file_of_ours_is_sent_to_a_server_that_asks_for_one(maria_server, tmp_path):
    info = maria_server.create_account(owner=True)
    (tmp_path / "secret").write_text("of ours\n")
    maria_server.execute(f"CREATE TABLE {info.database}.t (a varchar(40) PRIMARY KEY)")
    session = connect(info, "test")
    with pytest.raises(RuntimeError, match="local_infile option is false"):
        execute(session, f"LOAD DATA LOCAL INFILE '{tmp_path}/secret' INTO TABLE {info.database}.t")
    session.close()
    assert maria_server.execute(f"SELECT * FROM {info.database}.t") == []
