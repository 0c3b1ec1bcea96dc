"""Asking an administrator before a slave goes on whose initial data was carried by hand, where that is configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Context

from sluice.state.ddl_question import Reactivation as Answer
from sluice_airflow.airflow_versions import SkipMixin


class Reactivation(HITLOperator, SkipMixin):
    """Ask whether what follows is done; it is skipped, all of it, if somebody says no.

    Args:
        only_if: templated; if it renders to False nobody is asked, and what follows is done.
    """

    inherits_from_skipmixin = True
    template_fields: Sequence[str] = (*HITLOperator.template_fields, "only_if")

    def __init__(self, *, only_if: str, **kwargs: Any) -> None:
        super().__init__(options=list(Answer), **kwargs)
        self.only_if = only_if

    def execute(self, context: Context) -> Any:
        if str(self.only_if) != "False":
            return super().execute(context)
        self.log.info("nobody is to be asked")
        return None

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = super().execute_complete(context, event)
        if answer["chosen_options"] == [Answer.LEAVE]:
            self.log.info("it is left waiting")
            self.skip(context["ti"], context["task"].get_flat_relatives(upstream=False))
        return answer
