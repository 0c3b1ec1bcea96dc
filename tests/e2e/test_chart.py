"""The Helm chart, rendered by Helm's own library and checked by the schemas of Kubernetes. No cluster is there."""

from __future__ import annotations

import json
import runpy
import subprocess

import pytest
import yaml

from sluice import release
from sluice.config import configuration
from sluice.paths import PROJECT

pytestmark = [pytest.mark.full, pytest.mark.slow]
CHART = PROJECT / "deploy" / "chart"
PACKAGES = ("helm-python-sdk==0.2.2", "kubernetes-validate==1.37.0")
KUBERNETES = ("1.30", "1.37")
RENDER = """
import json, sys
import helm_python, kubernetes_validate, yaml
chart, versions, values = sys.argv[1], sys.argv[2].split(), json.loads(sys.argv[3])
with helm_python.Chart.load(chart) as loaded:
    texts = loaded.render(values, name="demo", namespace="data")
made = [each for name, text in texts.items() if name.endswith(".yaml") for each in yaml.safe_load_all(text) if each]
for each in made:
    for version in versions:
        kubernetes_validate.validate(each, version, strict=True)
print(json.dumps(made))
"""
CONFIG = {
    "change_log": "s3://bucket/log",
    "sources": {"shop": {"connection": "m", "tables": {"public.t": {}}}},
    "slaves": {"branch": {"connection": "b"}},
    "replications": [{"source": "shop", "slave": "branch"}],
    "relay": {"address": "0.0.0.0", "clients": {"printer": {"connection": "p", "tables": ["public.t"]}}},
}
VALUES = {"config": CONFIG, "secret": {"name": "mine"}}
RELAY = {"enabled": True, "from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}


@pytest.fixture(scope="module")
def render(tmp_path_factory):
    """Renders the chart with values, and checks each object: the objects by kind and name, or why it is refused."""
    launcher = runpy.run_path(str(PROJECT / "sluice"))
    env = launcher["install_environment"]()
    python = tmp_path_factory.mktemp("helm") / "bin" / "python"
    for words in (("venv", str(python.parents[1])), ("pip", "install", "--python", str(python), *PACKAGES)):
        subprocess.run([launcher["find_uv"](env), *words, "--quiet"], env=env, check=True, timeout=300)

    def make(**values: object) -> dict[tuple[str, str], dict] | str:
        words = [python, "-c", RENDER, CHART, " ".join(KUBERNETES), json.dumps(VALUES | values)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            return done.stderr
        return {(each["kind"], each["metadata"]["name"]): each for each in json.loads(done.stdout)}

    return make


def test_all_that_airflows_chart_lacks_is_made_and_valid(render, tmp_path):
    made = render(relay=RELAY, homeClaim="log")
    kinds = [("Deployment", "Service", "NetworkPolicy"), ("demo-connect", "demo-relay")]
    assert set(made) == {(kind, name) for kind in kinds[0] for name in kinds[1]} | {("ConfigMap", "demo")}
    for name in kinds[1]:
        template = made["Deployment", name]["spec"]["template"]
        labels = template["metadata"]["labels"].items()
        assert made["Service", name]["spec"]["selector"].items() <= labels
        assert made["NetworkPolicy", name]["spec"]["podSelector"]["matchLabels"].items() <= labels
        (container,) = template["spec"]["containers"]
        assert container["image"].endswith(f":{release.VERSION}")
        (port,) = made["Service", name]["spec"]["ports"]
        assert port["targetPort"] in [port["name"] for port in container["ports"]]
    file = tmp_path / "replication.yaml"
    file.write_text(made["ConfigMap", "demo"]["data"]["replication.yaml"])
    assert configuration.load(file).relay.address == "0.0.0.0"


def test_a_secret_is_made_where_none_is_named(render):
    connections = {"p": {"conn_type": "generic", "password": "{{ x }} '\"\\ \n"}}
    made = render(secret={"sealKey": f"{'k' * 43}=", "connections": connections})
    assert json.loads(made["Secret", "demo"]["stringData"]["connections.json"]) == connections


def test_nobody_reaches_what_nobody_was_named_for(render):
    made = render(relay={"enabled": True})
    assert "ingress" not in made["NetworkPolicy", "demo-relay"]["spec"]
    (rule,) = made["NetworkPolicy", "demo-connect"]["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": {"tier": "airflow", "component": "worker"}}}]
    assert {kind for kind, _ in render(connect={"enabled": False})} == {"ConfigMap"}


def test_the_environment_is_that_of_the_compose_file(render):
    services = yaml.safe_load((PROJECT / "docker-compose.yaml").read_text(encoding="utf-8"))["services"]
    (container,) = render(relay=RELAY)["Deployment", "demo-relay"]["spec"]["template"]["spec"]["containers"]
    assert container["args"] == services["relay"]["command"]
    assert {each["name"] for each in container["env"]} <= services["relay"]["environment"].keys()


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"secret": {}}, "at '/secret'"),
        ({"secret": {"sealKey": "short", "connections": {}}}, "at '/secret/sealKey'"),
        ({"config": {"sources": {}}}, "missing properties 'slaves', 'replications'"),
        ({"relay": {"form": []}}, "additional properties 'form' not allowed"),
        ({"airflow": {"podLabels": {"tier": None, "component": None}}}, "at '/airflow/podLabels'"),
    ],
)
def test_values_that_cannot_work_are_refused(render, values, fault):
    assert fault in render(**values)
