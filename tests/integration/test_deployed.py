"""What containers of docker-compose.yaml do, without Docker: processes with their environment and their secrets."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
from contextlib import closing
from dataclasses import replace

import pytest
import yaml

from sluice.capture.grants import grants
from sluice.capture.reconcile import bootstrap
from sluice.config import configuration
from sluice.context import Context
from sluice.paths import PROJECT

pytestmark = [pytest.mark.postgres]

SERVICES = yaml.safe_load((PROJECT / "docker-compose.yaml").read_text())["services"]
IMAGE = dict(re.findall(r"(PATH|PYTHONPATH)=(\S+)", (PROJECT / "Dockerfile").read_text()))
DATABASES = ("sluice_control", "sluice_master", "sluice_slave")
PASSWORD = "canary"


@pytest.fixture
def deployed(server, tmp_path):
    """Databases as the services have them, the secrets in files, and what a process of a service is started with."""
    infos = {name: server.create_database() for name in DATABASES}
    files = runpy.run_path(str(PROJECT / "deploy" / "make_secrets.py"))["contents"]()
    connections = json.loads(files["connections.json"])
    for name, info in infos.items():
        there = {"host": info.host, "port": info.port, "schema": info.database}
        connections[name] |= {**there, "login": info.login, "password": info.password}
    for name in ("sluice_master", "sluice_slave"):
        connections[name] |= {"login": "sluice", "password": PASSWORD}
    files["connections.json"] = json.dumps(connections)
    (tmp_path / "secrets").mkdir()
    for name, text in files.items():
        (tmp_path / "secrets" / name).write_text(text)
    places = {"/run/secrets": tmp_path / "secrets", "/var/lib/sluice": tmp_path / "home", "/opt/sluice": PROJECT}

    def here(text: str) -> str:
        for inside, outside in places.items():
            text = text.replace(inside, str(outside))
        return text.replace("$PATH", os.defpath)

    def process(service: str, *words: str) -> dict:
        named = {**IMAGE, **SERVICES[service]["environment"], "HOME": "/var/lib/sluice", "TMPDIR": str(tmp_path)}
        env = {name: here(value) for name, value in named.items()}
        return {"args": words, "env": env, "cwd": PROJECT, "text": True}

    (tmp_path / "home").mkdir()
    granted = (PROJECT / "deploy" / "master-grants.sql").read_text()
    with server.connect(infos["sluice_master"]) as master:
        master.execute((PROJECT / "deploy" / "master-db.sql").read_text())
        master.execute(f"CREATE ROLE sluice LOGIN PASSWORD '{PASSWORD}'")
        master.execute(granted)
    # Both servers are one here, and so are their roles.
    role = (PROJECT / "deploy" / "slave-role.sql").read_text().partition(";\n")[2]
    with server.connect(infos["sluice_slave"]) as slave:
        slave.execute(role.replace(':"DBNAME"', infos["sluice_slave"].database))
    for name in ("sluice_master", "sluice_slave"):
        infos[name] = replace(infos[name], login="sluice", password=PASSWORD)
    context = Context(configuration.load(PROJECT / "deploy" / "replication.yaml"), infos)
    with closing(context.store):
        assert granted.partition("\n")[2] == f"{grants(context, 'shop').strip()};\n"
        bootstrap(context, "shop")
        yield process
    server.drop_databases([infos["sluice_master"], infos["sluice_slave"]])
    with server.connect(infos["sluice_control"]) as session:
        session.execute("DROP ROLE sluice; DROP ROLE shop")
    server.drop_databases([infos["sluice_control"]])


@pytest.mark.full
def test_status_and_check_in_a_container_find_the_connections_that_are_secrets(deployed):
    def typed(*words):
        return subprocess.run(**deployed("airflow-scheduler", "./sluice", *words), capture_output=True)

    status = typed("status", "--json")
    (row,) = json.loads(status.stdout)
    assert (row["source"], row["slave"], row["status"], status.stderr) == ("shop", "branch", "UNCONFIGURED", "")
    found = dict(re.findall(r"^(?:ok  |FAIL) ([^:\n]+): (.*)", (checked := typed("check")).stdout, re.MULTILINE))
    assert checked.stdout.startswith(f"ok   configuration {PROJECT}/deploy/replication.yaml")
    assert "airflow-api-server" in found["Airflow's REST API"]
    assert "is a superuser" not in found["source shop"] + found["slave branch"]
    wrong = [line for line in checked.stdout.splitlines() if line.startswith("FAIL")]
    assert [line for line in wrong if not re.search("Airflow's REST API|Spark", line)] == []
