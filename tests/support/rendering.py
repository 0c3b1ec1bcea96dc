"""A task as it is right before execution, with what people have chosen."""

from __future__ import annotations

from types import SimpleNamespace

from sluice.state.ddl_question import Reactivation
from sluice_airflow.operator import CONF_OF_RUNS, SluiceSparkOperator

LEFT = {"shown": "sha256:07", "update": 7}


def pulled(task_ids: str | list[str], key: str = "return_value") -> object:
    """What earlier tasks have left: results, and no errors."""
    found = LEFT if key == "return_value" else None
    return found if isinstance(task_ids, str) else [found] * len(task_ids)


def rendered(dag, task_id: str, by: str = "eva", **params) -> SluiceSparkOperator:
    """The task, its templates filled in from the form's defaults and these choices; the first slave if none is chosen.

    Args:
        by: who triggered its run.
        params: choices of the form, and what one of our runs tells another.
    """
    task = dag.get_task(task_id).prepare_for_execution()
    told = {name: params.pop(name) for name in CONF_OF_RUNS & params.keys()}
    first = {"slave": "zurich", "slaves": ["zurich"], "change": 1, "statement": 1, "step": "before"}
    values = {name: first.get(name, param.value) for name, param in dag.params.items()} | params
    before = SimpleNamespace(xcom_pull=pulled)
    known = {"params": values, "ti": before, "dag_run": SimpleNamespace(triggering_user_name=by, conf=told)}
    task.render_template_fields(known, jinja_env=task.get_template_env())
    if task.answer_of:
        task.arguments |= {"answer": Reactivation.RELEASE if task.job == "release" else "Approve", "who": "eva"}
    return task
