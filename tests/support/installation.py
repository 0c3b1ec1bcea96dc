"""An installation as texts of SQL: what a version of Sluice leaves in the databases of a small world."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from support.world import World

from sluice.runtime import postgres_dirs

NAMES = ("control", "master", "zurich")
DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"
# What names of objects and columns of ours have of a table. Another database gives it another number.
_NUMBER = "@t@"
# Commands of psql, and settings, which an older server does not know all.
_NOT_SQL = re.compile(r"^(\\|--|SET |SELECT pg_catalog\.set_config|$)")
_TABLE = re.compile(r"CREATE TABLE public\.t \(.*?\);\n", re.DOTALL)


def dump(world: World, directory: Path) -> None:
    """Write the databases of a world as files; it has the table `t` of `DDL`, and nothing was captured in it."""
    assert not world.log()
    assert not world.queued()
    directory.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        info = world.infos[name]
        program = postgres_dirs.packaged_binaries() / "pg_dump"
        command = [str(program), "--inserts", "--no-owner", "--no-privileges", "-h", info.host, "-p", str(info.port)]
        done = subprocess.run(
            [*command, "-U", info.login, info.database],
            env={**os.environ, "PGPASSWORD": info.password},
            check=True,
            capture_output=True,
            text=True,
        )
        text = "".join(line for line in done.stdout.splitlines(keepends=True) if not _NOT_SQL.match(line))
        (directory / f"{name}.sql").write_text(re.sub(rf"(?<!\d){_number(world, name)}(?!\d)", _NUMBER, text))


def restore(world: World, directory: Path) -> None:
    """Let the databases of a world be empty ones with the contents of these files."""
    for name in NAMES:
        at = world._servers[name]
        world.infos = {**world.infos, name: at.create_database()}
        world.reconnect(name)
        session = world.reader(name)
        text = (directory / f"{name}.sql").read_text(encoding="utf-8")
        if table := _TABLE.search(text):
            session.execute(table[0].encode())
        # Functions come before what they use.
        session.execute("SET check_function_bodies = off")
        session.execute(_TABLE.sub("", text).replace(_NUMBER, _number(world, name)).encode())
        session.execute("RESET check_function_bodies")
    world.configure(lambda plain: None)


def _number(world: World, name: str) -> str:
    found = world.reader(name).execute("SELECT to_regclass('public.t')::oid::text").fetchone()
    return (found and found[0]) or "no table"
