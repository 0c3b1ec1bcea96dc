"""The launcher, the commands, the lock file and the rings of tests."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import subprocess
from types import ModuleType, SimpleNamespace

import pytest

from sluice.cli import parser
from sluice.cli.commands import show_check
from sluice.connections import KEY_FILE_ENV
from sluice.demo.run import DemoResult
from sluice.dev import oracle_server, test_rings
from sluice.dev.lockfile import LOCK, without_addresses
from sluice.errors import SluiceError
from sluice.monitor.status import ReplicationStatus
from sluice.paths import HOME_ENV, PROJECT
from sluice.state.replication import Status

REPORT = """<testsuites><testsuite>
<testcase classname="tests.unit.test_a" name="good" time="1.5"/>
<testcase classname="tests.unit.test_a" name="bad" time="1.5"><failure message="x"/></testcase>
<testcase classname="" name="tests.broken"><error message="x"/></testcase>
<testcase classname="tests.integration.test_a" name="left_out"><skipped message="no server"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture(scope="module")
def launcher() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("launcher", str(PROJECT / "sluice"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("launcher", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "--every", "nan"], "seconds from 0 to"),
        (["status", "--every", "inf"], "seconds from 0 to"),
        (["statement", "s", "--sql-file", "-", "--wait", "nan"], "seconds from 0 to"),
        (["statement", "s", "--show", str(1 << 63)], "at most 63 bits"),
        (["rejected", "s", "a", "-1"], "a number from 0|unrecognized"),
        (["dispatcher", "s", "a", "--approve", "9" * 5000], "invalid|at most 63 bits"),
        (["export", "s", "--from", "0"], "counted from 1"),
    ],
    ids=" ".join,
)
def test_a_number_that_makes_no_sense_is_refused_with_how_it_is_written(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        parser.main(words)
    assert ended.value.code == 2
    assert re.search(said, capsys.readouterr().err)


def test_a_home_that_is_none_is_told(monkeypatch, capsys, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "file" / "home"))
    assert parser.main(["up"]) == 1
    assert "file/home cannot be used: File exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["demo", "test", "up", "down", "status", "check", "statement", "bench", "install", "lock"]
)
def test_each_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        parser.main([command, "--help"])
    assert ended.value.code == 0
    assert f"./sluice {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["bench", "nothing"], ["bench", "apply", "--scale", "0"], ["bench", "apply", "--scale", "nan"], []]
)
def test_a_wrong_command_is_refused(words):
    with pytest.raises(SystemExit) as ended:
        parser.main(words)
    assert ended.value.code == 2


def test_the_launcher_speaks_to_an_old_python(launcher, monkeypatch):
    monkeypatch.setattr(launcher.sys, "version_info", (3, 9, 0))
    monkeypatch.setattr(launcher.shutil, "which", lambda _: None)
    with pytest.raises(launcher.Failure, match=r"SLC-281: Sluice needs Python 3\.11 to 3\.14, this is 3\.9"):
        launcher.main()


@pytest.fixture
def checkout(launcher, monkeypatch, tmp_path):
    """An empty checkout in which the launcher installs nothing, but says which groups it would."""
    for name in ("uv.lock", "pyproject.toml", "sluice"):
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(launcher, "CHECKOUT", tmp_path)
    monkeypatch.setattr(launcher, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(launcher, "STAMP", tmp_path / ".venv" / "sluice.stamp")
    monkeypatch.setattr(launcher, "BOOT", tmp_path / "boot")
    monkeypatch.setattr(launcher, "find_uv", lambda _: "uv")
    monkeypatch.setattr(launcher, "version_of", lambda _: (3, 11))
    monkeypatch.setattr(launcher.os, "execv", lambda *_: None)
    monkeypatch.setattr(launcher.os, "environ", dict(os.environ))
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    (tmp_path / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    return tmp_path


def test_an_environment_for_production_stays_one_until_install_is_typed(launcher, checkout, monkeypatch):
    ran = []

    def run(title, command, env):
        ran.extend({"--all-groups", "--no-default-groups"} & set(command))
        if failing and "sync" in command:
            raise subprocess.CalledProcessError(1, command, stderr="the network is down")

    def typed(*words):
        ran.clear()
        monkeypatch.setattr(launcher.sys, "argv", ["./sluice", *words])
        launcher.main()
        return ran

    monkeypatch.setattr(launcher, "run", run)
    monkeypatch.setattr(launcher, "pip_settings", dict)
    failing = False
    assert typed("install", "--production") == ["--no-default-groups"]
    assert typed("status") == typed("install", "--production") == typed("install", "--help") == []
    (checkout / "uv.lock").write_text("2")
    failing = True
    with pytest.raises(launcher.Failure, match="SLC-903"):
        typed("status")
    failing = False
    assert typed("status") == ["--no-default-groups"]
    assert typed("install") == ["--all-groups"]
    assert typed("status") == []


def test_a_changed_lock_file_makes_the_environment_out_of_date(launcher, monkeypatch, tmp_path):
    for name in ("uv.lock", "pyproject.toml", "sluice"):
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(launcher, "CHECKOUT", tmp_path)
    before = launcher.fingerprint()
    (tmp_path / "uv.lock").write_text("2")
    assert launcher.fingerprint() != before


def test_the_lock_file_names_no_package_index():
    assert "://" not in LOCK.read_text()


def test_a_lock_file_keeps_names_and_hashes_without_addresses():
    text = (
        'source = { registry = "https://index.example/simple" }\n'
        'sdist = { url = "https://files.example/a/b/x-1%2Bcpu.tar.gz", hash = "sha256:00", size = 7, n = 1 }\n'
    )
    assert without_addresses(text) == (
        'source = { registry = "" }\nsdist = { filename = "x-1+cpu.tar.gz", hash = "sha256:00", n = 1 }\n'
    )


QUICK = test_rings.QUICK_RINGS
READING, WORKING = "unit architecture", "dags properties faults integration"


def test_a_report_is_counted_by_rings(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    counts = test_rings.read_report(report, "faults")
    assert {ring: str(count) for ring, count in counts.items()} == {
        "unit": "1 passed, 1 failed, 0 skipped",
        "integration": "0 passed, 0 failed, 1 skipped",
        "faults": "0 passed, 1 failed, 0 skipped",
    }
    assert counts["unit"].seconds == 3
    assert counts["integration"].skipped == ["tests.integration.test_a::left_out: no server"]


@pytest.mark.parametrize(
    ("count", "ci", "code"),
    [
        (test_rings.Count(passed=1), "true", 0),
        (test_rings.Count(), "", 1),
        (test_rings.Count(passed=1, failed=1), "", 1),
        (test_rings.Count(passed=1, skipped=["x: no server"]), "", 0),
        (test_rings.Count(passed=1, skipped=["x: no server"]), "true", 1),
    ],
    ids=["passed", "nothing ran", "failed", "skipped", "skipped in CI"],
)
def test_a_run_counts_only_if_tests_ran_and_none_failed(count, ci, code, monkeypatch, capsys):
    monkeypatch.setenv("CI", ci)
    assert test_rings._conclude({"unit": count}, 1.0, {}) == code
    assert re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", capsys.readouterr().out.splitlines()[-1])


@pytest.mark.parametrize(
    ("dsn", "password", "fault"),
    [
        ("localhost/FREEPDB1", "x", "not of the form"),
        ("sys/x@localhost:1521/FREEPDB1", "x", "not of the form"),
        ("localhost:1521/FREEPDB1", "", "the password of SYS"),
    ],
)
def test_an_oracle_is_named_without_a_password(dsn, password, fault, monkeypatch, capsys):
    monkeypatch.setenv(oracle_server.DSN_ENV, "")
    monkeypatch.setenv(oracle_server.PASSWORD_ENV, password)
    assert parser.main(["test", "--oracle-dsn", dsn]) == 1
    said = capsys.readouterr().err
    assert "SLC-914: " in said
    assert fault in said
    assert "sys/x" not in said
    assert not oracle_server.is_named()


def test_an_unknown_ring_is_refused():
    with pytest.raises(SluiceError, match="SLC-003: there is no ring 'unti'"):
        test_rings.run(["unti"])


@pytest.mark.parametrize(
    ("names", "runs", "ended"),
    [
        (["e2e", "unit"], ["unit -m not full", "e2e -m not full"], ["unit", "e2e", "together"]),
        (
            ["quick"],
            ["unit dags -m not full", "integration -m smoke"],
            ["lint", "unit", "dags", "integration", "together"],
        ),
        (["e2e"], ["e2e -m not full"], ["e2e"]),
        (
            [],
            [f"{rings} -m not full" for rings in (READING, "e2e", WORKING)],
            [*test_rings.RINGS, "together"],
        ),
        (["all", "e2e"], ["e2e"], ["e2e"]),
        (["all"], [READING, "e2e", WORKING], [*test_rings.RINGS, "together"]),
    ],
    ids=["some", "quick", "one", "those of every day", "all of one", "all"],
)
def test_rings_run_together_and_the_end_has_the_time_of_each(names, runs, ended, monkeypatch, capsys):
    ran = []

    def tests(rings, options=(), later=False, most=None):
        ran.append(" ".join([*rings, *options]))
        return {ring: test_rings.Count(passed=2) for ring in rings}

    monkeypatch.setattr(test_rings, "_tests", tests)
    monkeypatch.setattr(test_rings, "_lint", lambda: test_rings.Count(passed=2))
    monkeypatch.setenv("SLUICE_FUZZ_INPUTS", "")
    monkeypatch.delenv("SLUICE_FUZZ_INPUTS")
    assert test_rings.run(names) == 0
    assert os.environ.get("SLUICE_FUZZ_INPUTS") == ("10000" if "all" in names else None)
    assert sorted(ran) == sorted(runs)
    if len(runs) == 3:
        assert ran[-1].startswith(WORKING), "it leaves the machine to the ring that starts everything"
    end = capsys.readouterr().out.split("=====\n")[-1].splitlines()
    assert [line.split()[0] for line in end[:-1]] == ended
    assert all(re.search(r"\d\.\d s ", line) for line in end[:-1])


def test_the_end_names_the_slowest_tests_and_the_rings_over_their_budgets(capsys):
    slow = [(float(n), f"test_{n}") for n in range(30)]
    counts = {"unit": test_rings.Count(passed=30, seconds=41.0, durations=slow), "dags": test_rings.Count(seconds=1.0)}
    test_rings._conclude(counts, 1.0, {"unit": 40, "dags": 40})
    slowest, end = capsys.readouterr().out.split("=====\n")
    assert [line.split()[-1] for line in slowest.splitlines()[1:-1]] == [f"test_{n}" for n in range(29, 9, -1)]
    assert [line for line in end.splitlines() if "OVER" in line] == [end.splitlines()[0]]
    assert "40 s" in end.splitlines()[0]


@pytest.mark.parametrize(("room", "processes"), [("max", 3), (str(13 << 30), 2), (str(1 << 30), 1)])
def test_as_many_processes_test_as_there_is_room_for(room, processes, tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    limit.write_text(room)
    monkeypatch.setattr(test_rings, "_LIMITS", (limit,))
    monkeypatch.setattr(test_rings.psutil, "virtual_memory", lambda: SimpleNamespace(total=24 << 30))
    monkeypatch.setattr(test_rings.os, "cpu_count", lambda: 2)
    assert test_rings.workers() == processes


def test_ci_runs_the_command_of_the_readme():
    run = PROJECT / ".ci" / "run"
    assert os.access(run, os.X_OK)
    assert run.read_text().splitlines()[-1].endswith('./sluice test "$@"')


@pytest.mark.parametrize(
    ("status", "compared", "different", "proved"),
    [
        (Status.NORMAL, 10, 0, True),
        (Status.INCONSISTENT, 10, 0, False),
        (Status.TRANSITION, 10, 0, False),
        (Status.NORMAL, 10, 1, False),
        (Status.NORMAL, None, None, False),
        (Status.NORMAL, 0, 0, False),
    ],
)
def test_the_demo_proves_nothing_unless_every_slave_was_found_equal(status, compared, different, proved):
    def standing(status, compared, different):
        return ReplicationStatus(
            source="flights", slave="zurich", status=status, colour="", dispatcher="ACTIVE", why="", position="1/1",
            holdback=0, lag_s=0, loaded="", tolerated=0, compared=compared, different=different,
        )  # fmt: skip

    good = standing(Status.NORMAL, 10, 0)
    assert DemoResult([good, standing(status, compared, different)]).is_proved is proved


def test_check_says_first_that_the_sealing_key_is_missing(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(HOME_ENV, str(tmp_path))
    monkeypatch.delenv(KEY_FILE_ENV, raising=False)
    assert show_check() == 1
    assert (
        f"FAIL sealing key: there is none at {tmp_path}/seal.key\n     type: ./sluice init\n" in capsys.readouterr().out
    )
