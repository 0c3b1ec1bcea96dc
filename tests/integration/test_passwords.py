"""Passwords that change while Sluice works: each session is opened with the one that holds then."""

from __future__ import annotations

import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from urllib.parse import parse_qs, urlsplit

import pytest
from psycopg import sql
from support.updating import load_here
from support.waiting import until
from support.world import SOURCE

from sluice import passwords
from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError, SluiceError, TransientError
from sluice.state.replication import Status
from sluice.vendors.address import parsed
from sluice.vendors.mariadb.session import connect as connect_to_mariadb
from sluice.vendors.mariadb.session import execute
from sluice.vendors.postgresql.session import connect

DDL = "CREATE TABLE t (id int PRIMARY KEY, v text)"
_numbers = count(1)


class Vault:
    """A program that prints the password that holds, and the file that it reads."""

    def __init__(self, directory, monkeypatch):
        self.file, self.program = directory / "now", directory / "print_password"
        self.calls = directory / "calls"
        self.program.write_text(f'#!/bin/sh\necho x >> {self.calls}\necho noise >&2\ncat "$1"\n')
        self.program.chmod(0o700)
        monkeypatch.setenv(passwords.PROGRAMS_ENV, f"/bin/none:{self.program}")

    def over(self, info):
        """The connection whose password it prints."""
        command = f"{self.program} '{self.file}'"
        return replace(info, password="", extra={**info.extra, "password_command": command})

    def change(self, admin, login):
        """Give a login of PostgreSQL the next password."""
        new = f"canary-{next(_numbers)}-of-{login}"
        admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(login), new))
        self.file.write_text(f"{new}\nmore\n")
        return new

    @property
    def times(self):
        """How often it was started."""
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0


@pytest.fixture
def vault(tmp_path, monkeypatch):
    (tmp_path / "vault").mkdir()
    return Vault(tmp_path / "vault", monkeypatch)


def test_sessions_are_opened_with_the_password_that_holds(server, vault):
    info = server.create_database()
    with server.cluster.admin() as admin:
        admin.autocommit = True
        for times in (1, 2):
            vault.change(admin, info.login)
            for _ in range(3):
                connect(vault.over(info), "test").close()
            assert vault.times == times
        admin.execute(sql.SQL("ALTER ROLE {} VALID UNTIL 'yesterday'").format(sql.Identifier(info.login)))
        # What was fetched just now, and is refused, is refused for good.
        with pytest.raises(SluiceError, match="SLC-031") as refused:
            connect(vault.over(info), "test")
        assert not isinstance(refused.value, TransientError)


def test_a_dump_goes_on_when_the_password_changes_in_the_middle_and_no_log_has_it(updating, vault, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    world = updating(DDL, ["public.t"], {}, slaves=("zurich",))
    admin, seen = world.session("control"), []
    for name in ("control", "master", "zurich"):
        assert world.infos[name].port == world.infos["master"].port
    login = world.infos["zurich"].login
    seen.append(vault.change(admin, login))
    world.infos["zurich"] = vault.over(world.infos["zurich"])
    world.configure(lambda settings: None)
    world.master.execute("INSERT INTO t SELECT n, n FROM generate_series(1, 500) AS n")

    def load(job):
        seen.append(vault.change(admin, login))
        return load_here(job)

    world.update(load=load)
    world.master.execute("UPDATE t SET v = v || 'b'")
    seen.append(vault.change(admin, login))
    world.publish()
    world.drain()
    assert world.verify() == {"zurich": 0}
    said = "".join(capfd.readouterr()) + caplog.text
    assert not [password for password in seen if password in said]


def test_a_login_from_a_backend_that_expires_in_a_dump_is_retried_from_where_it_was(updating):
    world = updating(DDL, ["public.t"], {}, slaves=("zurich",))
    admin, login = world.session("control"), world.infos["zurich"].login
    world.infos["zurich"] = replace(world.infos["zurich"], extra={"password_expires": True})
    world.configure(lambda settings: None)
    world.master.execute("INSERT INTO t SELECT n, n FROM generate_series(1, 500) AS n")
    change = sql.SQL("ALTER ROLE {} PASSWORD {}")

    def load(job):
        admin.execute(change.format(sql.Identifier(login), "new"))
        return load_here(job)

    world.inhibit()
    with pytest.raises(TransientError, match="SLC-691") as refused:
        world.dump(load=load)
    assert "Airflow hands out" in " ".join(refused.value.hint.split())
    # The next try gets what Airflow's secrets backend has now.
    world.infos["zurich"] = replace(world.infos["zurich"], password="new")
    world.configure(lambda settings: None)
    world.dump()
    world.release()
    world.publish()
    world.drain()
    assert world.verify(initial=True) == {"zurich": 0}


def test_a_slave_whose_login_expires_holds_up_no_other_one(updating):
    world = updating(DDL, ["public.t"], {}, slaves=("zurich", "geneva"))
    admin, login = world.session("control"), world.infos["zurich"].login
    assert login != world.infos["geneva"].login
    world.infos["zurich"] = replace(world.infos["zurich"], extra={"password_expires": True})
    world.configure(lambda settings: None)
    world.master.execute("INSERT INTO t SELECT n, n FROM generate_series(1, 500) AS n")

    def load(job):
        admin.execute(sql.SQL("ALTER ROLE {} PASSWORD 'new'").format(sql.Identifier(login)))
        return load_here(job)

    world.inhibit()
    assert list(world.dump(load=load)["failed"]) == ["zurich"]
    world.release()
    assert (world.status("zurich"), world.status("geneva")) == (Status.INCONSISTENT, Status.TRANSITION)


def test_the_control_store_gets_the_password_that_holds(build, vault):
    world = build(DDL, ["public.t"])
    admin, login = world.session("master"), world.infos["control"].login
    vault.change(admin, login)
    world.infos["control"] = vault.over(world.infos["control"])
    for number in range(2):
        world.configure(lambda settings: None)
        world.master.execute(f"INSERT INTO t VALUES ({number})")
        world.publish()
        world.drain()
        vault.change(admin, login)
    assert world.differences() == {}
    assert SOURCE in world.settings["sources"]


def test_a_slave_of_mariadb_gets_the_password_that_holds(maria_server, vault):
    info = maria_server.create_account()
    vault.file.write_text(info.password)
    with connect_to_mariadb(info, "test") as admin:
        connect_to_mariadb(vault.over(info), "test").close()
        execute(admin, "SET PASSWORD = PASSWORD('another')")
        vault.file.write_text("another")
        connect_to_mariadb(vault.over(info), "test").close()
        assert vault.times == 2


# A program, and what is said of it.
WRONG = {
    "not permitted": ("/bin/cat /etc/passwd", "SLC-017: .* is /bin/cat, which this machine does not permit"),
    "by its name alone": ("print_password x", "SLC-017: .* does not permit"),
    "no words": ("'", "SLC-017: .* is no program"),
    "not a text": (7, "SLC-017: .* is no program"),
    "not there": (["/bin/none"], "SLC-691: .* cannot be started: No such file"),
    "fails": (["{}", "/none"], "SLC-691: .*print_password ended with 1, and printed none"),
    "prints none": (["{}", "/dev/null"], "SLC-691: .* printed none"),
}


@pytest.mark.parametrize(("command", "told"), WRONG.values(), ids=WRONG)
def test_a_program_that_gives_none_is_told(server, vault, command, told):
    if isinstance(command, list):
        command = [word.format(vault.program) for word in command]
    info = replace(server.create_database(), extra={"password_command": command})
    with pytest.raises((ConfigError, TransientError), match=told):
        connect(info, "test")


def test_a_switch_that_is_none_is_told(server):
    for name in ("iam", "password_expires"):
        info = replace(server.create_database(), password="x", extra={name: 1})
        with pytest.raises(ConfigError, match=f"SLC-017: `{name}` of .* is neither true nor false"):
            connect(info, "test")


def test_a_program_that_hangs_is_ended(server, vault, monkeypatch):
    monkeypatch.setattr(passwords, "_PATIENCE_S", 0.2)
    vault.program.write_text("#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(TransientError, match=r"SLC-691: .* printed none within 0.2 s"):
        connect(vault.over(server.create_database()), "test")


def test_a_slow_program_holds_up_no_other_connection(vault):
    slow, quick = (ConnectionInfo("postgres", name, login="app") for name in ("slow", "quick"))
    os.mkfifo(vault.file)
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(passwords.password_of, vault.over(slow), 5432)
        until(lambda: vault.times == 1)
        vault.file = vault.file.with_name("other")
        vault.file.write_text("quick")
        assert passwords.password_of(vault.over(quick), 5432) == "quick"
        assert not waiting.done()
        vault.file.with_name("now").write_text("slow")
        assert waiting.result() == "slow"


def test_a_token_of_rds_is_signed_here(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-secret")
    address = parsed("postgresql://app@shop.c1.eu-central-1.rds.amazonaws.com/d?iam=true&region_name=eu-central-1")
    assert address.secret == ""
    info = ConnectionInfo("postgres", address.host, 5432, "d", "app", extra=json.loads(json.dumps(address.extra)))
    token = passwords.password_of(info, 5432)
    parts = urlsplit(f"https://{token}")
    query = parse_qs(parts.query)
    assert (parts.netloc, query["Action"], query["DBUser"]) == (f"{info.host}:5432", ["connect"], ["app"])
    assert query["X-Amz-Expires"] == ["900"]
    assert "/eu-central-1/rds-db/" in query["X-Amz-Credential"][0]
    assert "canary-secret" not in token
    assert token in passwords.list_fetched()


def test_a_token_that_cannot_be_signed_is_told(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    info = ConnectionInfo("postgres", "db.example", login="app", extra={"iam": True, "region_name": "eu-central-1"})
    with pytest.raises(TransientError, match=r"SLC-691: .* boto3 cannot sign it \(NoCredentialsError\)"):
        passwords.password_of(info, 5432)
