"""Which slots tasks take: nothing that takes hours keeps one from what must not wait."""

from __future__ import annotations

import pytest

from sluice.config import configuration, pools
from sluice_airflow.operator import SluiceSparkOperator


@pytest.mark.parametrize(
    ("dag_id", "pool"),
    [
        ("bootstrap", "sluice_bulk"),
        ("publish__flights", "sluice_publish"),
        ("drain__flights__zurich", "sluice_drain"),
        ("drain__flights__geneva", "sluice_drain"),
        ("verify", "sluice_bulk"),
        ("cancel_update", "sluice_reserved"),
        ("administer", "default_pool"),
        ("statement", "default_pool"),
        ("decide", "default_pool"),
    ],
)
def test_bulk_work_takes_no_slot_of_publishing_or_drains(bag, dag_id, pool):
    tasks = [task for task in bag.dags[dag_id].tasks if isinstance(task, SluiceSparkOperator)]
    assert {task.pool for task in tasks} == {pool}


@pytest.mark.parametrize("dag_id", ["initial_update", "receive_initial_files"])
def test_what_shuts_or_opens_a_gate_does_not_wait_for_what_takes_hours(bag, dag_id):
    tasks = [task for task in bag.dags[dag_id].tasks if isinstance(task, SluiceSparkOperator)]
    bulk = {task.job for task in tasks if task.pool == "sluice_bulk"}
    assert bulk == {"verify", *({"dump", "blocks"} if dag_id == "initial_update" else {"receive"})}
    assert {task.pool for task in tasks if task.job not in bulk} == {"sluice_reserved"}


def test_pools_have_a_slot_for_each_source_and_each_replication():
    assert pools.slots(configuration.load()) == {
        "sluice_publish": 1,
        "sluice_drain": 2,
        "sluice_bulk": 2,
        "sluice_reserved": 1,
    }
