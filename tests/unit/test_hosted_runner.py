"""The job that runs the tests on a real Oracle, seen without a runner: the documented commands, with our server."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from sluice.cli import parser

PROJECT = Path(__file__).resolve().parents[2]
TEXT = (PROJECT / ".github" / "workflows" / "oracle.yml").read_text()
JOB = yaml.safe_load(TEXT)["jobs"]["oracle"]
TYPED = [line for step in JOB["steps"] if "run" in step and "if" not in step for line in step["run"].splitlines()]
SERVER = yaml.safe_load((PROJECT / "docker-compose.yaml").read_text())["services"]["oracle-db"]
PAGE = (PROJECT / "include" / "docs" / "oracle.md").read_text()


def test_the_job_types_what_the_documentation_says():
    (block,) = re.findall(r"```\n(deploy/make_secrets\.py .*?)```", PAGE, re.DOTALL)
    assert [re.sub(r"\s+#.*", "", line) for line in block.splitlines()] == TYPED


def test_the_job_starts_our_server_and_names_its_port():
    words = next(line for line in TYPED if line.startswith("docker compose")).split()
    assert words[-1] == "oracle-db"
    assert [words[words.index("--profile") + 1]] == SERVER["profiles"]
    # By its short name, and of a version.
    assert re.fullmatch(r"gvenzl/oracle-free:\d[\w.-]+@sha256:[0-9a-f]{64}", SERVER["image"])
    given = parser.parser().parse_args(TYPED[-1].split()[1:])
    host, port, service = re.fullmatch(r"(.+):(\d+)/(.+)", given.oracle_dsn).groups()
    assert (host, service) == ("localhost", "FREEPDB1")
    assert SERVER["ports"] == [f"127.0.0.1:{port}:1521"]


def test_the_password_is_made_in_the_job_and_in_no_command():
    (secret,) = SERVER["secrets"]
    assert SERVER["environment"]["ORACLE_PASSWORD_FILE"] == f"/run/secrets/{secret}"
    assert f"export SLUICE_ORACLE_PASSWORD=$(cat deploy/secrets/{secret})" in TYPED
    assert not {"services", "env"} & JOB.keys()
    assert "${{" not in TEXT


def test_no_other_host_is_named():
    assert "://" not in TEXT
    assert [step["uses"].partition("@")[0] for step in JOB["steps"] if "uses" in step] == ["actions/checkout"]
