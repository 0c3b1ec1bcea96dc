"""docker-compose.yaml without a Docker engine: its schema, its pins, and that all it names exists."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import subprocess
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pytest
import yaml

from sluice import paths, release, shell
from sluice.config import configuration, configuration_text, pools
from sluice.runtime import airflow
from sluice.runtime.paths import RuntimePaths

PROJECT = Path(__file__).resolve().parents[2]
TEXT = (PROJECT / "docker-compose.yaml").read_text()
COMPOSE = yaml.safe_load(TEXT)
SERVICES = COMPOSE["services"]
DOCKERFILE = (PROJECT / "Dockerfile").read_text()
START = (PROJECT / "deploy" / "start.sh").read_text()
DATABASES = {"control-db", "master-db", "slave-db"}
# The classes of Spark that read what we set: https://spark.apache.org/docs/latest/spark-standalone.html
SPARK_CLASSES = {
    "spark-core": ("deploy/worker/WorkerArguments", "internal/config/Worker$", "internal/config/package$"),
    "spark-launcher": ("launcher/SparkClassCommandBuilder",),
}
# For tests, in a profile of its own: https://github.com/gvenzl/oci-oracle-free, "Container secrets".
FOR_TESTS = {"oracle-db": {"ORACLE_PASSWORD_FILE"}}
# https://hub.docker.com/_/postgres, "Environment Variables"
POSTGRES_NAMES = {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD_FILE"}


def installed(package: str, *inside: str) -> Path:
    """A file of an installed package, found without importing it."""
    return Path(importlib.util.find_spec(package).origin).parent.joinpath(*inside)


def spark_classes() -> bytes:
    found = []
    for name, classes in SPARK_CLASSES.items():
        (jar,) = installed("pyspark", "jars").glob(f"{name}_*.jar")
        with zipfile.ZipFile(jar) as packed:
            found += [packed.read(f"org/apache/spark/{one}.class") for one in classes]
    return b"".join(found)


def environments():
    for service, entry in SERVICES.items():
        for name, value in entry.get("environment", {}).items():
            yield service, name, value


def secret_files() -> dict[str, str]:
    return runpy.run_path(str(PROJECT / "deploy" / "make_secrets.py"))["contents"]()


def test_the_file_is_valid_by_the_compose_specification():
    schema = json.loads(installed("check_jsonschema", "builtin_schemas", "vendor", "compose-spec.json").read_text())
    jsonschema.validators.validator_for(schema)(schema).validate(COMPOSE)


def test_all_the_services_of_a_deployment_are_there():
    airflow = {f"airflow-{name}" for name in ("init", "api-server", "scheduler", "dag-processor", "triggerer")}
    spark = {"spark-master", "spark-worker-1", "spark-worker-2", "spark-connect"}
    assert set(SERVICES) == DATABASES | airflow | spark | {"relay"} | set(FOR_TESTS)
    assert {name for name, entry in SERVICES.items() if "profiles" in entry} == set(FOR_TESTS)


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_has_limits_and_docker_keeps_a_bounded_part_of_what_it_prints(service):
    assert set(SERVICES[service]["deploy"]["resources"]["limits"]) == {"cpus", "memory"}
    logging = SERVICES[service]["logging"]
    assert (logging["driver"], set(logging["options"])) == ("json-file", {"max-size", "max-file"})


def test_a_worker_has_room_beside_what_its_executors_may_have():
    for name in ("spark-worker-1", "spark-worker-2"):
        given = SERVICES[name]["environment"]
        limits = SERVICES[name]["deploy"]["resources"]["limits"]
        slots, memory = int(given["SPARK_WORKER_CORES"]), int(limits["memory"].removesuffix("g"))
        # Tasks wait for databases most of the time, and each has a Python process beside the executor's memory.
        assert int(limits["cpus"]) <= slots
        assert memory - int(given["SPARK_WORKER_MEMORY"].removesuffix("g")) >= 0.4 * slots


def test_what_is_published_is_so_on_the_loopback_unless_somebody_says_otherwise():
    assert {name: entry["ports"] for name, entry in SERVICES.items() if "ports" in entry} == {
        "airflow-api-server": ["${SLUICE_UI_ADDRESS:-127.0.0.1}:8080:8080"],
        "relay": ["${SLUICE_RELAY_ADDRESS:-127.0.0.1}:6002:6002"],
        "oracle-db": ["127.0.0.1:1521:1521"],
    }


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_of_others_is_pinned_by_its_digest_and_ours_has_a_version(service):
    digest = "" if "build" in SERVICES[service] else "@sha256:[0-9a-f]{64}"
    version = r"[a-z./-]+:\d+\.\d+(\.\d+)?(-[a-z0-9.-]+)?"
    assert re.fullmatch(version + digest, SERVICES[service]["image"])


def test_the_image_we_build_is_made_from_a_pinned_one_and_has_the_projects_version():
    (base,) = re.findall(r"^ARG BASE=(\S+)", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base)
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) == ["${BASE}"] * 2
    assert {entry["image"] for entry in SERVICES.values() if "build" in entry} == {f"sluice:{release.VERSION}"}


def test_the_image_has_packages_for_production_alone_and_is_not_run_by_root():
    *_, last = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)
    assert "./sluice install --production" in DOCKERFILE
    assert re.findall(r"^COPY (.+)", last, re.MULTILINE) == ["--from=built /opt/sluice /opt/sluice"]
    assert re.findall(r"^USER (.+)", last, re.MULTILINE) == ["sluice"]
    assert "ADD " not in DOCKERFILE
    installs = re.findall(r"apt-get install.+", DOCKERFILE)
    assert [line for line in installs if "--no-install-recommends" not in line] == []


def test_docker_is_given_nothing_but_what_the_image_needs():
    first, *rules = [rule for rule in (PROJECT / ".dockerignore").read_text().splitlines() if rule[:1] not in ("", "#")]
    assert first == "*"
    given = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    code = {"dags", "deploy", "include", "plugins", "spark_jobs", "sql", "sluice", "pyproject.toml", "uv.lock"}
    assert given == code | {"LICENSE"}
    assert {rule for rule in rules if not rule.startswith("!")} == {"deploy/chart", "deploy/secrets", "**/__pycache__"}
    assert all((PROJECT / path).exists() for path in given)


def test_every_service_that_stays_up_has_a_health_check():
    assert {name for name, entry in SERVICES.items() if "healthcheck" not in entry} == {"airflow-init"}


def test_a_service_waits_only_for_what_there_is():
    for name, entry in SERVICES.items():
        for other, condition in entry.get("depends_on", {}).items():
            assert other in SERVICES, name
            if condition["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other], name


def test_every_mounted_path_of_the_host_exists():
    mounts = [volume.split(":")[0] for entry in SERVICES.values() for volume in entry.get("volumes", [])]
    paths = [mount for mount in mounts if mount.startswith((".", "/"))]
    assert [path for path in paths if not (PROJECT / path).is_file()] == []
    assert {mount for mount in mounts if mount not in paths} == set(COMPOSE["volumes"])


def test_every_path_inside_the_image_exists_in_the_repository():
    inside = set(re.findall(r"/opt/sluice/([\w./-]+)", TEXT + DOCKERFILE)) - {".venv/bin"}
    assert [path for path in sorted(inside) if not (PROJECT / path).exists()] == []


def test_every_role_that_a_service_starts_is_known():
    roles = set(re.findall(r"[\w-]+", " ".join(re.findall(r"^    ([\w| -]+)\)$", START, re.MULTILINE))))
    assert {entry["command"][0] for entry in SERVICES.values() if "command" in entry} == roles
    assert subprocess.run(["bash", "-n", PROJECT / "deploy" / "start.sh"], check=False).returncode == 0


def test_every_name_of_ours_in_an_environment_is_one_that_the_code_reads():
    sources = [path.read_text() for tree in ("include", "plugins") for path in (PROJECT / tree).rglob("*.py")]
    known = set(re.findall(r'"(SLUICE_[A-Z_]+)"', "\n".join(sources)))
    used = {name for _, name, _ in environments() if name.startswith("SLUICE_")}
    assert used == {paths.HOME_ENV, configuration_text.CONFIG_ENV, shell.CLI_ENV, "SLUICE_SEAL_KEY_FILE"}
    assert used <= known


def test_every_name_of_airflows_is_one_that_airflow_reads():
    sections = yaml.load(installed("airflow", "config_templates", "config.yml").read_text(), yaml.CSafeLoader)
    names = {name for _, name, _ in environments() if name.startswith("AIRFLOW__")}
    assert len(names) > 10
    for name in names:
        _, section, option = name.split("__")
        by_command = option.endswith("_CMD")
        known = sections[section.lower()]["options"][option.removesuffix("_CMD").lower()]
        # Airflow runs a command only for an option that it knows to be a secret.
        assert not by_command or known.get("sensitive"), name


def test_every_other_name_is_one_that_its_program_reads():
    others = {(service, name) for service, name, _ in environments() if not name.startswith(("SLUICE_", "AIRFLOW__"))}
    assert {name for service, name in others if service in DATABASES} == POSTGRES_NAMES
    ours = {name for service, name in others if service not in DATABASES | set(FOR_TESTS)}
    assert all({name for service, name in others if service == one} == names for one, names in FOR_TESTS.items())
    exported = set(re.findall(r"^\s*export (\w+)", START, re.MULTILINE))
    token = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
    assert token in exported
    assert token in installed("pyspark", "sql", "connect", "client", "core.py").read_text()
    confs = set(re.findall(r"spark\.(?:worker|executor)\.[\w.]+", START))
    assert len(confs) > 4
    known = spark_classes()
    no_java = {name for name in ours | exported | confs if name.encode() not in known}
    assert no_java == {"AIRFLOW_HOME", token, "NO_PROXY", "no_proxy"}


def test_no_proxy_of_docker_is_between_our_services():
    connections = json.loads(secret_files()["connections.json"]).values()
    asked = {one["host"] for one in connections if one["conn_type"] in ("http", "spark_connect")}
    asked |= {urlsplit(str(value)).hostname for _, _, value in environments() if str(value).startswith("http")}
    direct = [set(value.split("${")[0].split(",")) for _, name, value in environments() if name.upper() == "NO_PROXY"]
    ours = [entry for entry in SERVICES.values() if "SLUICE_HOME" in entry.get("environment", {})]
    assert len(direct) == 2 * len(ours)
    assert all(asked <= hosts and "" not in hosts for hosts in direct), "to some clients an empty name means all"


def test_no_password_is_in_the_file():
    speaking = re.compile(r"PASSWORD|SECRET|TOKEN|KEY|CONN")
    telling = [
        (service, name)
        for service, name, value in environments()
        if speaking.search(name.split("__")[-1]) and not str(value).startswith(("/", "cat /run/secrets/"))
    ]
    assert telling == []
    assert not re.search(r"://[^/\s]*:[^/\s]*@", TEXT)


def test_every_secret_is_made_and_used():
    used = {secret for entry in SERVICES.values() for secret in entry.get("secrets", [])}
    mentioned = set(re.findall(r"/run/secrets/([\w.]+)", TEXT + START))
    assert used == set(COMPOSE["secrets"]) == set(secret_files())
    assert mentioned <= used
    for name, entry in COMPOSE["secrets"].items():
        assert entry == {"file": f"./deploy/secrets/{name}"}


def test_a_service_may_read_the_secrets_it_mentions():
    for name, entry in SERVICES.items():
        mentioned = set(re.findall(r"/run/secrets/([\w.]+)", json.dumps(entry)))
        # Airflow's own sealing key is for tasks, which the api-server runs none of.
        if name == "airflow-api-server":
            mentioned.discard("seal_key")
        assert mentioned <= set(entry.get("secrets", ())), name


def test_the_secrets_fit_together_and_cover_the_configuration():
    files = secret_files()
    connections = json.loads(files["connections.json"])
    settings = configuration.load(PROJECT / "deploy" / "replication.yaml")
    databases = [*settings.sources.values(), *settings.slaves.values()]
    needed = {settings.control, settings.spark, settings.airflow_api, *settings.relay.secret_ids}
    needed |= {entry.connection for entry in databases}
    assert set(connections) == needed
    assert connections["sluice_control"]["password"] == files["store_password"]
    assert connections["sluice_master"]["password"] == files["master_password"]
    assert connections["sluice_slave"]["password"] == files["slave_password"]
    assert connections["sluice_spark"]["password"] == files["connect_token"]
    assert connections["sluice_airflow_api"]["password"] == json.loads(files["airflow_users"])["admin"]
    assert files["airflow_password"] in files["airflow_database_url"]
    for entry in connections.values():
        assert entry.get("host", "localhost") in {*SERVICES, "localhost"}


def test_as_many_tasks_may_run_as_the_pools_have_slots():
    slots = pools.slots(configuration.load(PROJECT / "deploy" / "replication.yaml"))
    allowed = {int(value) for _, name, value in environments() if name == "AIRFLOW__CORE__PARALLELISM"}
    assert len(allowed) == 1
    assert allowed.pop() >= sum(slots.values())


def test_logs_are_where_housekeeping_looks_for_them(monkeypatch):
    monkeypatch.setenv(configuration_text.CONFIG_ENV, str(PROJECT / "deploy" / "replication.yaml"))
    embedded = airflow.environment(RuntimePaths(Path("/var/lib/sluice")), {}, 8080, "")
    logging = {name: value for name, value in embedded.items() if name.startswith("AIRFLOW__LOGGING__")}
    assert len(logging) == 2
    assert logging.items() <= SERVICES["airflow-scheduler"]["environment"].items()


def test_connect_listens_on_the_loopback_of_the_tasks_and_its_driver_in_the_network_of_spark_alone():
    assert SERVICES["spark-connect"]["network_mode"] == "service:airflow-scheduler"
    assert "spark.connect.grpc.binding.address=127.0.0.1" in START
    assert SERVICES["airflow-scheduler"]["networks"]["spark"] == {"aliases": ["spark-driver"]}
    assert "0.0.0.0" not in START


def test_a_service_is_in_the_networks_of_those_that_it_has_to_reach_and_in_no_other():
    together = {
        "airflow": {one for one in SERVICES if one.startswith("airflow-")},
        "store": {one for one in SERVICES if one.startswith(("airflow-", "spark-worker"))} | {"control-db", "relay"},
        "data": {
            "master-db",
            "slave-db",
            "airflow-api-server",
            "airflow-scheduler",
            "spark-worker-1",
            "spark-worker-2",
        },
        "spark": {"spark-master", "spark-worker-1", "spark-worker-2", "airflow-scheduler"},
    }
    assert set(COMPOSE["networks"]) == set(together)
    for name, members in together.items():
        assert {one for one, entry in SERVICES.items() if name in entry.get("networks", ())} == members, name
    # The default network is one for all.
    alone = {name for name, entry in SERVICES.items() if not ("networks" in entry or "network_mode" in entry)}
    assert alone == set(FOR_TESTS)


def test_each_process_of_spark_asks_the_others_for_the_secret(tmp_path):
    spark = {name for name, entry in SERVICES.items() if name.startswith("spark-")}
    assert {name for name in spark if "spark_secret" in SERVICES[name]["secrets"]} == spark
    (tmp_path / "spark_secret").write_text("a secret of this test")
    (tmp_path / "connect_token").write_text("a token")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, said in {"spark-class": '"$@"', "spark-submit": '"$@"', "getent": "10.1.2.3 STREAM spark-driver"}.items():
        (programs / name).write_text(f"#!/bin/sh\necho {said}\n")
        (programs / name).chmod(0o755)
    script = START.replace("/run/secrets", str(tmp_path))
    for role in ("spark-master", "spark-worker", "spark-connect"):
        env = {"PATH": f"{programs}:{os.defpath}", "TMPDIR": str(tmp_path)}
        said = subprocess.run(
            ["bash", "-c", script, "start.sh", role], env=env, capture_output=True, text=True, check=True
        )
        file = tmp_path / role / "spark.conf"
        assert f"--properties-file {file}" in said.stdout
        assert "a secret of" not in said.stdout
        assert file.stat().st_mode & 0o777 == 0o600
        assert dict(line.split(" ", 1) for line in file.read_text().splitlines()) == {
            "spark.authenticate": "true",
            "spark.network.crypto.enabled": "true",
            "spark.master.rest.enabled": "false",
            "spark.authenticate.secret": "a secret of this test",
        }
    assert "spark.driver.bindAddress=10.1.2.3 " in said.stdout


def test_no_database_that_is_replicated_is_read_by_a_superuser():
    files = secret_files()
    connections = json.loads(files["connections.json"])
    for name in ("master", "slave"):
        server, connection = SERVICES[f"{name}-db"], connections[f"sluice_{name}"]
        assert (server["environment"]["POSTGRES_USER"], connection["login"]) == ("postgres", "sluice")
        assert files[f"{name}_admin_password"] != connection["password"]
        assert any(volume.startswith(f"./deploy/{name}-role.sql:") for volume in server["volumes"])
        role = (PROJECT / "deploy" / f"{name}-role.sql").read_text()
        assert f"CREATE ROLE sluice LOGIN PASSWORD :'{name}_password'" in role
        assert "SUPERUSER" not in role
