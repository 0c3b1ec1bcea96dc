"""The workflows for hosted runners, seen without a runner: their form, what begins them, and what they run."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
import yaml

from sluice.cli import parser
from sluice.dev import test_rings as rings

PROJECT = Path(__file__).resolve().parents[2]
FILES = {file.stem: file for file in (PROJECT / ".github" / "workflows").iterdir()}
SCHEMA = json.loads((files("check_jsonschema") / "builtin_schemas/vendor/github-workflows.json").read_text("utf-8"))
BY_HAND = {"workflow_dispatch": None}
# What begins each, and the words of its `test`.
RUNS = {
    "pull_request": ({"pull_request": None}, ["quick"]),
    "main": ({"push": {"branches": ["main"]}}, []),
    "nightly": ({"schedule": [{"cron": "17 2 * * *"}], **BY_HAND}, ["all"]),
    "oracle": (BY_HAND, ["all", "integration"]),
    "release": ({"push": {"tags": ["v*"]}}, ["all", "e2e"]),
}
TESTING = [name for name in RUNS if name != "release"]
# Those that run `.ci/run`, in a container.
OURS = ("pull_request", "main", "nightly", "release")


def content(name):
    """A workflow; for YAML 1.1 the word `on` is a truth value."""
    return {"on" if key is True else key: value for key, value in yaml.safe_load(FILES[name].read_text()).items()}


def job(name):
    """Its first job, which alone runs the tests."""
    return next(iter(content(name)["jobs"].values()))


def typed(name):
    """The command of the tests."""
    lines = [line for step in job(name)["steps"] for line in step.get("run", "").splitlines()]
    (found,) = [line for line in lines if re.match(r"\.ci/run|\./sluice test", line)]
    return found.removeprefix(".ci/run").removeprefix("./sluice test").split()


def test_each_workflow_begins_and_runs_as_is_said_here():
    assert FILES.keys() == RUNS.keys()
    assert {name: content(name)["on"] for name in RUNS} == {name: begins for name, (begins, _) in RUNS.items()}
    given = {name: parser.parser().parse_args(["test", *typed(name)]).rings for name in RUNS}
    assert given == {name: words for name, (_, words) in RUNS.items()}
    assert {word for words in given.values() for word in words} <= {rings.QUICK, rings.ALL, *rings.RINGS}


@pytest.mark.parametrize("name", TESTING)
def test_a_workflow_is_valid_and_may_read_the_repository_alone(name):
    found = content(name)
    jsonschema.validators.validator_for(SCHEMA)(SCHEMA).validate(found)
    assert found["permissions"] == {"contents": "read"}
    assert len(found["jobs"]) == 1
    assert "permissions" not in job(name)
    # A runner is lent for six hours.
    assert job(name)["timeout-minutes"] <= (330 if name == "nightly" else 120)
    (checkout,) = [step for step in job(name)["steps"] if "uses" in step]
    assert checkout["uses"].startswith("actions/checkout@")
    assert checkout["with"] == {"persist-credentials": False}
    # A shell would run what a title or a branch of somebody else says.
    assert "${{" not in json.dumps(job(name))
    assert "secrets" not in FILES[name].read_text().replace("deploy/secrets", "").replace("make_secrets", "")


def test_each_action_is_pinned_by_its_commit_and_says_its_version():
    used = [line for file in FILES.values() for line in file.read_text().splitlines() if "uses:" in line]
    assert len(used) == len(TESTING) + 4
    assert [line for line in used if not re.search(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []


def test_a_release_is_published_by_a_job_that_runs_nothing_of_the_checkout():
    found = content("release")
    jsonschema.validators.validator_for(SCHEMA)(SCHEMA).validate(found)
    build, publish = found["jobs"].values()
    assert found["permissions"] == {"contents": "read"}
    assert "permissions" not in build
    assert "${{" not in json.dumps(build)
    assert publish["permissions"] == {"contents": "write", "id-token": "write"}
    assert (publish["needs"], publish["environment"]) == ("build", "release")
    assert not [step for step in publish["steps"] if "checkout" in step.get("uses", "")]
    assert "password" not in json.dumps(publish)


def test_a_newer_commit_ends_the_run_of_a_pull_request_and_no_other_run():
    groups = {name: content(name)["concurrency"] for name in OURS}
    assert {name for name, one in groups.items() if one["cancel-in-progress"]} == {"pull_request"}
    assert "${{ github.ref }}" in groups["pull_request"]["group"]
    assert len({one["group"] for one in groups.values()}) == len(OURS)


def test_tests_run_on_the_python_and_the_system_of_the_image():
    bases = re.findall(r"^ARG BASE=(python:[^@\s]+)", (PROJECT / "Dockerfile").read_text(), re.MULTILINE)
    assert {job(name)["container"]["image"] for name in OURS} == {base.replace("-slim", "") for base in bases}
