"""Comparisons at set times: their DAGs, and times of a cron table, which Airflow takes if the configuration does."""

from __future__ import annotations

from pathlib import Path

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import CronTriggerTimetable
from airflow.serialization.serialized_objects import DagSerialization
from pydantic import TypeAdapter, ValidationError
from support.rendering import rendered

from sluice.config import configuration, configuration_text
from sluice.config.cron import Cron

GOOD = ["0 2 * * *", "*/15 0-23/2 1,15 * 1-5", "59 23 31 12 7", "0 02 * * 0", "5,10-20/3 * * 1-6 *"]
BAD = [
    "",
    "0 2 * *",
    "60 2 * * *",
    "0 24 * * *",
    "0 2 0 * *",
    "0 2 * 13 *",
    "0 2 * * 8",
    "30-10 2 * * *",
    "@daily",
    "0 2 * * *\n",
]


@pytest.mark.parametrize("text", GOOD)
def test_a_time_that_is_taken_is_one_of_the_scheduler(text):
    assert TypeAdapter(Cron).validate_python(text) == text
    CronTriggerTimetable(text, timezone="UTC").validate()


@pytest.mark.parametrize("text", BAD)
def test_others_are_refused(text):
    with pytest.raises(ValidationError):
        TypeAdapter(Cron).validate_python(text)


# Percent, the share that fewer rows have to differ than, and the confidence.
ALL = (100, None, 0.99)
SIZES = {"sample: 7": (7, None, 0.99), "at_most: 1/1000, confidence: 0.95": (100, 1 / 1000, 0.95)}


@pytest.mark.parametrize("size", SIZES)
def test_slaves_are_compared_at_set_times(tmp_path, monkeypatch, job_module, size):
    file = tmp_path / "replication.yaml"
    settings = f"    verification: {{whole_at: '0 2 * * 0', sampled_at: '30 2 * * 1-6', {size}}}\n"
    file.write_text(
        configuration_text.path().read_text(encoding="utf-8").replace("  flights:\n", f"  flights:\n{settings}", 1)
    )
    monkeypatch.setenv("SLUICE_CONFIG", str(file))
    bag = DagBag(dag_folder=str(Path(__file__).parents[2] / "dags"))
    assert bag.import_errors == {}
    assert set(bag.dags) == set(configuration.load().dags)
    for dag_id, cron, asked in (("whole", "0 2 * * 0", ALL), ("sample", "30 2 * * 1-6", SIZES[size])):
        dag = bag.dags[f"verify__flights__{dag_id}"]
        assert (dag.timetable.expression, str(dag.timetable.timezone)) == (cron, "UTC")
        task = rendered(dag, "verify")
        parsed = job_module(task.job).parser().parse_args(task.command_line())
        assert (parsed.source, parsed.slaves) == ("flights", ["zurich", "geneva"])
        assert (parsed.sample, parsed.at_most, parsed.confidence) == asked
        assert DagSerialization.from_dict(DagSerialization.to_dict(dag)).dag_id == dag.dag_id
