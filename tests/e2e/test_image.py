"""The image: the services of docker-compose.yaml start from it, are healthy, and replicate."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from support.containers import IMAGE_ENV, Containers, is_possible, networks, write_secrets
from support.waiting import until

from sluice.paths import PROJECT

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow,
    pytest.mark.postgres,
    pytest.mark.skipif(not is_possible(), reason=f"needs podman, root, and {IMAGE_ENV}: an image that podman has"),
]
DATABASES = ("airflow", "sluice_control", "sluice_master", "sluice_slave")
SERVICES = (
    "spark-master",
    "spark-worker-1",
    "airflow-api-server",
    "airflow-scheduler",
    "spark-connect",
    "airflow-dag-processor",
    "airflow-triggerer",
    "relay",
)


@pytest.fixture(scope="module")
def infos(server):
    made = {name: server.create_database() for name in DATABASES}
    with server.connect(made["sluice_master"]) as master:
        tables = (PROJECT / "deploy" / "master-db.sql").read_text(encoding="utf-8")
        # Here the role of the master owns its tables.
        master.execute("\n".join(line for line in tables.splitlines() if " shop" not in line))
    with server.cluster.admin() as admin:
        # Users of containers reach it by its socket, with a password.
        file = Path(admin.execute("SHOW hba_file").fetchone()[0])
        rules = "".join(f"local {info.database} {info.login} scram-sha-256\n" for info in made.values())
        file.write_text(rules + file.read_text())
        admin.execute("SELECT pg_reload_conf()")
    return made


@pytest.fixture(scope="module")
def containers(server, infos, tmp_path_factory):
    place = tmp_path_factory.mktemp("image")
    (place / "home").mkdir()
    (place / "home").chmod(0o777)
    sockets = server.cluster.sockets
    write_secrets(place / "secrets", {name: replace(info, host=str(sockets)) for name, info in infos.items()})
    # Another user is at work in there.
    sockets.chmod(0o711)
    tag = f"sluice-{os.getpid()}"
    with ExitStack() as stack:
        names = stack.enter_context(networks(tag))
        made = Containers(tag, os.environ[IMAGE_ENV], names, place, [sockets])
        stack.callback(made.remove)
        made.start("airflow-init", wait=True)
        for service in SERVICES:
            made.start(service)
        yield made


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_healthy(containers, service):
    assert containers.become_healthy(service), containers.logs(service)


def test_an_initial_update_ends_with_an_equal_slave_that_follows(containers, infos, server):
    update = containers.shell("./sluice", "trigger", "initial_update", "source=shop", "slaves=branch", "--wait")
    assert "success" in update
    (row,) = json.loads(containers.shell("./sluice", "status", "--json", check=False))
    assert (row["status"], row["compared"], row["different"]) == ("NORMAL", 6, 0)
    with server.connect(infos["sluice_master"]) as master, server.connect(infos["sluice_slave"]) as slave:
        master.execute("INSERT INTO customers (name) VALUES ('Dora')")
        master.commit()
        names = "SELECT string_agg(name, ' ' ORDER BY id) FROM customers"
        until(lambda: slave.execute(names).fetchone()[0].endswith(" Dora"), seconds=300)


def test_check_finds_nothing_missing(containers):
    checked = containers.shell("./sluice", "check", check=False)
    assert [line for line in checked.splitlines() if line.startswith("FAIL")] == []
