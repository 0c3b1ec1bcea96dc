"""Tables that a task read and wrote, as Airflow's OpenLineage provider asks an operator for them, if it is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def is_wanted() -> bool:
    """Whether Airflow sends lineage anywhere: the provider is installed, and somebody set it up."""
    try:
        from airflow.providers.openlineage.conf import is_disabled
    except ImportError:
        return False
    return not is_disabled()


def facets(pairs: Sequence[Mapping[str, Any]]) -> Any:
    """The provider's own form of these pairs of tables, as a job says them; of slaves' columns with their origin.

    Raises:
        ImportError: the provider is not installed; then nobody asks.
    """
    from airflow.providers.common.compat.openlineage.facet import Dataset
    from airflow.providers.openlineage.extractors import OperatorLineage

    masters = dict.fromkeys((pair["master"]["namespace"], pair["master"]["name"]) for pair in pairs)
    return OperatorLineage(
        inputs=[Dataset(namespace, name) for namespace, name in masters],
        outputs=[Dataset(**pair["slave"], facets=_origin(pair)) for pair in pairs],
    )


def _origin(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Where several tables go through one task, only columns tell which of them a table comes from."""
    from airflow.providers.common.compat.openlineage.facet import ColumnLineageDatasetFacet, Fields, InputField

    fields = {ours: Fields([InputField(**pair["master"], field=theirs)]) for ours, theirs in pair["columns"]}
    return {"columnLineage": ColumnLineageDatasetFacet(fields)} if fields else {}
