"""The tables that a task read and wrote, as Airflow's OpenLineage provider asks an operator for them."""

from __future__ import annotations

import json

import pytest

from sluice_airflow import lineage
from sluice_airflow.operator import SluiceSparkOperator

PAIR = {
    "master": {"namespace": "postgres://db:5432", "name": "d.public.legs"},
    "slave": {"namespace": "postgres://other:5432", "name": "d.public.routes"},
    "columns": [["price", "fare"]],
}
OTHER = {**PAIR, "slave": {"namespace": "postgres://other:5433", "name": "d.public.legs"}, "columns": []}
JOB = f"""
import json, os
print({json.dumps({"lineage": [PAIR]})!r})
print({json.dumps({"lineage": [OTHER]})!r})
print(json.dumps({{"asked": os.environ.get("SLUICE_LINEAGE")}}))
"""


@pytest.mark.parametrize(("wanted", "asked"), [(False, None), (True, "1")])
def test_a_task_has_the_pairs_of_tables_that_its_job_said(deployment, context, monkeypatch, wanted, asked):
    assert not lineage.is_wanted(), "nobody sends lineage here"
    monkeypatch.setattr(lineage, "is_wanted", lambda: wanted)
    deployment.job(JOB)
    task = SluiceSparkOperator(task_id="t", job="fake", arguments={"source": "flights", "slave": ["zurich"]})
    assert task.table_pairs == []
    assert task.execute(context) == {"asked": asked}
    assert task.table_pairs == [PAIR, OTHER], "of each line"
