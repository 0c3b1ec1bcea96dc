"""The page of DAGs, their tasks and params, made from the DAGs of a small configuration."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from sluice import paths
from sluice.dev.markdown import cell, sentence
from sluice.dev.value_types import describe_type

_INTRODUCTION = """# DAGs and params

This page is made from the DAGs, for the settings that the configuration has if you say nothing. [DAGs and
jobs](dags.md) says how they run. The ids and the params are an interface: give the params in Airflow's form, or to
`./sluice trigger`.
"""
_CONFIG = """
sources:
  source: {connection: a, tables: {"public.*": {}}, verification: {whole_at: "0 3 * * 0", sampled_at: "0 * * * *"}}
slaves: {slave: {connection: b}}
replications: [{source: source, slave: slave}]
control: c
spark: d
airflow_api: e
"""
# Names of the configuration.
_NAMES = {"source": "name of a source", "slave": "name of a slave", "slaves": "names of slaves"}


def dags_page() -> str:
    """Make the page. This imports Airflow, and sets `SLUICE_CONFIG` and, if it is not set, `AIRFLOW_HOME`."""
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("AIRFLOW_HOME", home)
        file = Path(home) / "replication.yaml"
        file.write_text(_CONFIG, encoding="utf-8")
        # Only DAGs and plugins know Airflow, which has them on its path.
        sys.path += [str(paths.PROJECT / folder) for folder in ("dags", "plugins")]
        dags = import_module("sluice_airflow_dags").sluice_dags(file)
        return "\n".join([_INTRODUCTION, *(line for _, dag in sorted(dags.items()) for line in _section(dag))])


def _section(dag: Any) -> Iterator[str]:
    name = dag.dag_id.replace("__source", "__<source>").replace("__slave", "__<slave>")
    yield from (f"## `{name}`", "", f"{sentence(dag.description)} Runs {_schedule(dag.schedule)}.", "")
    tasks = [f"`{task.task_id}` ({task.pool})" for task in dag.topological_sort()]
    yield from (f"Tasks, with their pools: {', '.join(tasks)}.", "")
    if dag.params:
        yield from ("| param | type | default | meaning |", "|---|---|---|---|")
        yield from (_param(name, dag.params.get_param(name)) for name in dag.params)
        yield ""


def _schedule(schedule: Any) -> str:
    if schedule is None:
        return "when it is triggered"
    if assets := getattr(schedule, "timetable", None):
        return f"when the asset of the change log has an event, and {_schedule(assets)}"
    if delta := getattr(schedule, "delta", None):
        return f"every {delta.total_seconds():g} s"
    return "at the times that the configuration says"


def _param(name: str, param: Any) -> str:
    schema = param.schema
    required = name in _NAMES or "null" not in schema["type"]
    default = "required" if required else "" if param.value is None else f"`{json.dumps(param.value)}`".replace('"', "")
    told = sentence(param.description or "")
    return f"| `{name}` | {_NAMES.get(name) or cell(describe_type(schema))} | {default} | {cell(told)} |"
