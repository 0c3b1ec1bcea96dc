"""`./sluice connect`, asked of Airflow's own API server: what is tried, what is stored, and what stays as it was."""

from __future__ import annotations

import getpass
import io
import subprocess
from contextlib import redirect_stdout, suppress
from types import SimpleNamespace

import psycopg
import pytest

from sluice.connections import SEALED_ENV, ConnectionInfo, seal
from sluice.libpq import parameters
from sluice_airflow import sealing

CANARY = "canary-5f3a9c-password"

pytestmark = [pytest.mark.airflow, pytest.mark.slow]


def read_stored(conn_id: str) -> tuple[object, ...] | None:
    """A connection in Airflow's database."""
    from airflow.models import Connection
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        one = session.scalar(select(Connection).where(Connection.conn_id == conn_id))
        return one and (one.conn_type, one.host, one.port, one.schema, one.login, one.password, one.extra_dejson)


@pytest.mark.full
@pytest.mark.parametrize("by", ["REST", "command"])
def test_a_connection_is_added_or_replaced_with_its_password_from_stdin(sluice, monkeypatch, by):
    if by == "command":
        # Airflow does not answer: it is asked as its own command line does it.
        monkeypatch.setenv(SEALED_ENV, seal({"test_airflow_api": ConnectionInfo("http", "127.0.0.1", 1)}))
    code, said = sluice("connect", "shop", "postgresql://eva@db1/shop?sslmode=require", stdin=f"{CANARY}\n")
    assert code == 0
    assert "stored: the Airflow connection shop, of type postgres" in said
    assert "does not name it, so it was not tried. It names test_master, test_zurich, test_geneva" in said
    assert read_stored("shop") == ("postgres", "db1", 5432, "shop", "eva", CANARY, {"sslmode": "require"})
    assert CANARY not in said
    monkeypatch.setenv("TOKEN", "t")
    assert sluice("connect", "shop", "sc://spark1:15003/;use_ssl=true", "--password-env", "TOKEN")[0] == 0
    assert read_stored("shop") == ("spark_connect", "spark1", 15003, None, None, "t", {"use_ssl": True})
    assert sluice("connect", "shop", "oracle://eva@db1/SHOP?protocol=tcps", "--password-env", "TOKEN")[0] == 0
    assert read_stored("shop") == ("oracle", "db1", 1521, "SHOP", "eva", "t", {"protocol": "tcps"})
    assert sluice("connect", "shop", "http://h:1")[0] == 0
    assert read_stored("shop")[5] is None, "the password of another connection was kept"


@pytest.mark.full
def test_a_connection_that_a_secrets_backend_has_is_not_what_was_stored(sluice, monkeypatch):
    monkeypatch.delenv(SEALED_ENV)
    code, said = sluice("connect", "test_zurich", "postgresql://eva@db1/shop", "--untried", stdin="other\n")
    assert code == 1
    assert "SLC-251: Airflow hands out another connection test_zurich than the one that was stored" in said


@pytest.mark.full
def test_all_connections_that_are_missing_are_asked_for(sluice, monkeypatch):
    monkeypatch.delenv(SEALED_ENV)
    for name in ("SPARK", "MASTER", "GENEVA"):
        monkeypatch.delenv(f"AIRFLOW_CONN_TEST_{name}")
    lines = ["local[2]", "postgresql://eva@127.0.0.1:1/shop", CANARY, "postgresql://eva@127.0.0.1:1/copy", CANARY]
    code, said = sluice("connect", stdin="\n".join(lines) + "\n")
    assert code == 1
    assert "ok   Spark: spark local[2], looked at by the first job\nstored: the Airflow connection test_spark" in said
    assert "FAIL source flights: SLC-030" in said
    assert "SLC-252: the connection test_master was not stored, since it failed when it was tried" in said
    assert (read_stored("test_master"), "geneva" in said) == (None, False)
    code, said = sluice("connect", "--untried", stdin="\n".join(lines[1:]) + "\n")
    assert (code, "FAIL" in said, "test_zurich" in said) == (0, False, False), "Airflow has zurich's"
    assert read_stored("test_geneva") == ("postgres", "127.0.0.1", 1, "copy", "eva", CANARY, {})
    code, said = sluice("connect")
    assert (code, said) == (0, "Airflow has all connections that the configuration names. To replace one, name it.\n")


@pytest.mark.parametrize(
    ("conn_id", "written", "fitting"),
    [
        ("test_zurich", "localhost:24004", "postgresql://USER@HOST:PORT/DATABASE?sslmode=require"),
        ("test_control", "http://admin@localhost:8080", "postgresql://USER@HOST:PORT/DATABASE?sslmode=require"),
        ("test_airflow_api", "local[2]", "http://USER@HOST:PORT"),
        ("test_spark", "postgresql://eva@db1/shop", "sc://HOST:PORT (Spark Connect; /;use_ssl=true), or spark://"),
    ],
)
def test_an_address_of_another_kind_is_refused_with_one_that_fits(sluice, conn_id, written, fitting):
    before = read_stored(conn_id)
    code, said = sluice("connect", conn_id, written, "--untried", stdin="other\n")
    assert (code, "SLC-017: an address of type " in said) == (1, True), said
    assert f"HINT: nothing was changed; write {fitting}" in said
    assert read_stored(conn_id) == before


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        """True."""
        return True


@pytest.fixture
def handed_out_here(monkeypatch):
    """Airflow's connections, sealed by this process: another one would do the same after seconds of imports."""

    from airflow.exceptions import AirflowNotFoundException
    from airflow.models import Connection

    def ask(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command[1:3] == ["-m", sealing.__name__], command
        infos = {}
        for conn_id in command[3:]:
            # Airflow logs to where the command prints.
            with suppress(AirflowNotFoundException), redirect_stdout(io.StringIO()):
                infos[conn_id] = sealing.info(Connection.get_connection_from_secrets(conn_id))
        return subprocess.CompletedProcess(command, 0, seal(infos), "")

    monkeypatch.setattr("sluice.cli.context.subprocess", SimpleNamespace(run=ask))


@pytest.mark.postgres
def test_a_connection_is_stored_once_it_answers_and_stays_when_another_one_fails(
    sluice, server, deployment, handed_out_here, monkeypatch
):
    monkeypatch.delenv(SEALED_ENV)
    monkeypatch.delenv("AIRFLOW_CONN_TEST_MASTER")
    made = server.create_database()
    typed = f"postgresql://{made.login}@{made.host}:{made.port}/{made.database}"
    code, said = sluice("connect", "test_master", typed, stdin=f"{made.password}\n")
    assert (code, said) == (
        0,
        "ok   source flights: answers\nstored: the Airflow connection test_master, of type postgres\n",
    )
    before = read_stored("test_master")
    code, said = sluice("connect", "test_master", typed, stdin="a slip of the finger\n")
    assert (code, "stored: " in said) == (1, False)
    assert "FAIL source flights: SLC-031" in said
    assert "was not stored, since it failed when it was tried; the one that was there stays" in said
    assert read_stored("test_master") == before

    passwords = iter(["a slip of the finger", made.password])
    monkeypatch.setattr(getpass, "getpass", lambda prompt: next(passwords))
    code, said = sluice("connect", "test_master", stdin=Terminal(f"localhost:24004\n{typed}\n\n"))
    assert code == 0
    offered = [line for line in said.splitlines() if line.startswith("  ") and "USER@" in line]
    assert offered == ["  postgresql://USER@HOST:PORT/DATABASE?sslmode=require"] * 3
    assert said.count("Once more, or end it with Ctrl-C.") == 2
    assert f"Address [{typed}]: " in said
    assert read_stored("test_master") == before

    # The script of `grants`, which gives what is lacking, asks for the connection.
    file = deployment.path / "replication.yaml"
    file.write_text(file.read_text().replace("flights: {", "flights: {capture: log, ", 1))
    with psycopg.connect(autocommit=True, **parameters(made, "test")) as session:
        session.execute("CREATE ROLE lacking LOGIN PASSWORD 'right'")
        for lacking, given in (("SLC-033", f"GRANT CONNECT ON DATABASE {made.database} TO lacking"), ("SLC-400", "")):
            code, said = sluice("connect", "test_master", typed.replace(made.login, "lacking", 1), stdin="right\n")
            assert (code, f"FAIL source flights: {lacking}" in said) == (0, True), said
            assert read_stored("test_master")[4] == "lacking"
            session.execute(given)
        session.execute("DROP OWNED BY lacking; DROP ROLE lacking")
    server.drop_databases([made])


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("postgresql://eva:secret@db1/shop", "has no password"),
        ("postgresql://eva@db1/shop?password=secret", "has no password"),
        ("oracle://eva@db1/SHOP?wallet_password=secret", "has no password"),
        ("oracle://eva@db1", "no service"),
        ("sc://h/;token=secret", "has no token"),
        ("postgresql://db1", "no user and no database"),
        ("ftp://h", "nothing is reached by ftp://"),
        ("postgresql://eva@db1:port/shop", "Port could not be cast"),
        ("", "this is no address"),
    ],
)
def test_an_address_that_is_none_is_refused(sluice, address, fault):
    code, said = sluice("connect", "shop", address)
    assert (code, "SLC-017: " in said, fault in said) == (1, True, True), said
    assert "secret" not in said
