"""The embedded runtime without its servers: ports, processes, records, progress, Java."""

from __future__ import annotations

import io
import json
import os
import pwd
import re
import socket
import time
from pathlib import Path

import pytest
import yaml
from support.waiting import until

from sluice.config import configuration, configuration_text, pools
from sluice.errors import ConfigError, SluiceError
from sluice.runtime import ports, postgres_dirs, up
from sluice.runtime.guarded import expect_guarded
from sluice.runtime.handle import Runtime
from sluice.runtime.paths import RuntimePaths, write_private
from sluice.runtime.postgres import Cluster
from sluice.runtime.state import RuntimeState
from sluice.runtime.terminal import Progress


@pytest.fixture
def layout(tmp_path) -> RuntimePaths:
    layout = RuntimePaths(tmp_path / "home")
    layout.make()
    return layout


def test_a_folder_with_a_percent_sign_is_refused_at_once(tmp_path):
    with pytest.raises(ConfigError, match=r"SLC-686: .*50%off"):
        RuntimePaths(tmp_path / "50%off").make()
    assert not list(tmp_path.iterdir())


@pytest.fixture
def listener():
    """A port that somebody listens on."""
    with socket.socket() as server:
        server.bind((ports.LOOPBACK, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_taken_port_is_stepped_around(listener):
    assert not ports.is_free(listener)
    assert ports.choose("x", listener) > listener


def test_two_services_get_two_ports(listener):
    first = ports.choose("x", listener)
    assert ports.choose("y", listener, [first]) > first


def test_no_free_port_is_an_error_that_names_them(monkeypatch):
    monkeypatch.setattr(ports, "is_free", lambda _: False)
    with pytest.raises(SluiceError, match=r"api-server: the ports 8080 to 8129 of 127\.0\.0\.1 are all taken"):
        ports.choose("api-server", 8080)


def test_a_record_that_was_cut_short_is_no_record(layout):
    layout.state_file.write_text('{"services": [{"name"')
    assert RuntimeState(layout).services == {}


def test_a_running_runtime_is_not_taken_for_one_of_another_configuration(layout, monkeypatch, tmp_path):
    ours = tmp_path / "ours.yaml"
    runtime = Runtime(layout, Cluster(layout.postgres), 1, 2, 3, "", configuration=ours)
    monkeypatch.setenv(configuration_text.CONFIG_ENV, "")
    runtime.expect_configuration()
    assert configuration_text.path() == ours, "a shell that names none goes on with what runs"
    runtime.expect_configuration()
    monkeypatch.setenv(configuration_text.CONFIG_ENV, str(tmp_path / "theirs.yaml"))
    with pytest.raises(
        SluiceError, match=r"SLC-253: .*ours\.yaml.*theirs\.yaml.*\nHINT: .*\./sluice down && \./sluice up"
    ):
        runtime.expect_configuration()


def test_what_was_started_is_kept_with_its_configuration(layout, tmp_path):
    RuntimeState(layout).set_configuration(tmp_path)
    assert RuntimeState(layout).configuration == str(tmp_path)


def test_it_starts_with_the_configuration_of_last_time(layout, monkeypatch, tmp_path):
    shop = tmp_path / "shop.yaml"
    shop.touch()
    monkeypatch.delenv(configuration_text.CONFIG_ENV, raising=False)
    for given, has in (("", configuration_text.path()), (shop, shop), ("", shop)):
        monkeypatch.setenv(configuration_text.CONFIG_ENV, str(given))
        up._remember_configuration(RuntimeState(layout))
        assert (configuration_text.path(), Path(RuntimeState(layout).configuration)) == (has, has)
    shop.unlink()
    monkeypatch.setenv(configuration_text.CONFIG_ENV, "")
    up._remember_configuration(RuntimeState(layout))
    assert configuration_text.path() != shop, "it is gone"


def test_progress_says_every_while_what_is_still_going_on():
    shown = io.StringIO()
    progress = Progress(shown, heartbeat_s=0.02)
    with progress.step("Airflow") as one, progress.step("Spark"):
        one.update("waiting for scheduler")
        deadline = time.monotonic() + 60
        while not re.search(r"\.\.\. Airflow \(waiting for scheduler\) \d+ s, Spark \d+ s", shown.getvalue()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    lines = shown.getvalue().splitlines()
    assert re.match(r"\[\d:\d\d\] Airflow: done in \d+\.", lines[-1])


def test_quiet_progress_says_nothing_while_nothing_changes():
    shown = io.StringIO()
    with Progress(shown, heartbeat_s=0.01, quiet=True).step("verify") as step:
        for detail in ("1 of 2 parts", "2 of 2 parts"):
            step.update(detail)
            until(lambda detail=detail: f"({detail})" in shown.getvalue())
            time.sleep(0.1)
    assert [line.split(" ", 1)[1].rpartition(" ")[0] for line in shown.getvalue().splitlines()[:-1]] == [
        "verify",
        "... verify (1 of 2 parts) 0",
        "... verify (2 of 2 parts) 0",
    ]


def test_progress_says_what_failed():
    shown = io.StringIO()
    with pytest.raises(ZeroDivisionError), Progress(shown).step("Spark"):
        raise ZeroDivisionError
    assert "Spark: failed" in shown.getvalue()


def test_a_private_file_is_private_from_the_start(tmp_path):
    write_private(tmp_path / "token", "x")
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


@pytest.mark.parametrize("deep", [False, True], ids=["short", "long"])
def test_the_socket_has_a_short_path_wherever_the_home_is(tmp_path, deep):
    directory = tmp_path / ("d" * 100 if deep else "d")
    place = postgres_dirs.ServerDirectories.for_user(directory, None)
    assert len(f"{place.sockets}/.s.PGSQL.54320") < 107
    assert place.base == directory


def test_a_directory_that_belongs_to_somebody_else_is_refused(tmp_path):
    planted = tmp_path / "planted"
    planted.symlink_to(tmp_path)
    with pytest.raises(SluiceError, match=r"SLC-333: .*belongs to somebody else"):
        postgres_dirs._make_guarded(planted, 0o755)


def test_what_root_executes_is_in_no_directory_of_the_servers_user(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(postgres_dirs, "packaged_binaries", lambda: closed / "p" / "pginstall18" / "bin")
    (closed / "p" / "pginstall18" / "bin").mkdir(parents=True)
    (closed / "home").mkdir()
    place = postgres_dirs.ServerDirectories.for_user(closed / "home" / "pg", pwd.getpwnam(postgres_dirs.SERVER_USER))
    assert place.base != place.outside
    assert place.base not in place.binaries.parents
    assert place.outside in place.binaries.parents


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can plant what another user owns")
@pytest.mark.parametrize("owner", [postgres_dirs.SERVER_USER, "daemon"])
def test_a_place_that_another_user_took_first_is_refused(tmp_path, owner):
    planted = tmp_path / "planted"
    planted.mkdir()
    other = pwd.getpwnam(owner)
    os.chown(planted, other.pw_uid, other.pw_gid)
    with pytest.raises(SluiceError, match=r"SLC-333: .*belongs to somebody else"):
        postgres_dirs._make_guarded(planted, 0o711)


@pytest.fixture
def program(tmp_path):
    (tmp_path / "bin").mkdir(mode=0o755)
    made = tmp_path / "bin" / "java"
    made.touch(0o755)
    return made


def test_a_program_that_nobody_else_can_replace_is_executed(program):
    program.parent.parent.chmod(0o1777)
    expect_guarded(program)


@pytest.mark.parametrize(
    "harm", ["a file for all", "a directory for all", "a group's", "a link to one", "another user's"]
)
def test_a_program_that_others_can_replace_is_not_executed(program, harm):
    said, named = program, program
    if harm == "a file for all":
        program.chmod(0o757)
    elif harm == "a directory for all":
        named = program.parent
        named.chmod(0o777)
    elif harm == "a link to one":
        program.chmod(0o757)
        said = program.parent.parent / "link"
        said.symlink_to(program)
    elif os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    elif harm == "a group's":
        os.chown(program, 0, 12_345)
        program.chmod(0o775)
    else:
        os.chown(program, 12_345, 0)
    named = said if said != program else named
    with pytest.raises(SluiceError, match=rf"SLC-333: others could replace {said}, .*: {named} belongs"):
        expect_guarded(said)


def test_airflow_gets_no_password_by_its_environment_and_no_other_database(layout, monkeypatch):
    from sluice.runtime import airflow, environment

    for name in ("PGHOSTADDR", "PGSERVICE", "PGOPTIONS", "PGTZ", "PGSSLROOTCERT"):
        monkeypatch.setenv(name, "of others")
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    airflow.make_secrets(layout)
    url = "postgresql+psycopg://airflow@/airflow?host=/x&port=1"
    env = airflow.environment(layout, environment.child_environment(layout, Path("/java")), 8080, url)
    assert airflow.password(layout) not in json.dumps(env)
    assert (layout.airflow / "airflow.cfg").stat().st_mode & 0o777 == 0o600
    assert [name for name in env if name.startswith("PG")] == ["PGSSLROOTCERT"]
    assert {name for name in env if name.lower().endswith("_proxy")} == {"HTTPS_PROXY", "NO_PROXY", "no_proxy"}
    assert all("localhost" in env[name] for name in ("NO_PROXY", "no_proxy"))
    assert env["SLUICE_CLI"] == "./sluice", "messages name commands as they are typed on this machine"


@pytest.mark.parametrize("slaves", [1, 2, 4, 9])
def test_as_many_tasks_may_run_as_the_pools_have_slots(layout, tmp_path, monkeypatch, slaves):
    from sluice.runtime import airflow, environment

    names = [f"slave{number}" for number in range(slaves)]
    settings = {
        "sources": {"flights": {"connection": "master", "tables": {"public.t": {}}}},
        "slaves": {name: {"connection": name} for name in names},
        "replications": [{"source": "flights", "slave": name} for name in names],
    }
    file = tmp_path / "replication.yaml"
    file.write_text(yaml.safe_dump(settings))
    monkeypatch.setenv(configuration_text.CONFIG_ENV, str(file))
    env = airflow.environment(layout, environment.child_environment(layout, Path("/java")), 8080, "postgresql://")
    allowed = int(env["AIRFLOW__CORE__PARALLELISM"])
    assert allowed >= sum(pools.slots(configuration.load()).values())
    assert allowed == 6 or slaves > 2, "each idle worker costs memory"
