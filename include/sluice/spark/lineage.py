"""The lineage of a job, for the Airflow task that started it: a line on the standard output, if it is wanted."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from dataclasses import asdict

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import TableName
from sluice.monitor import lineage
from sluice.shell import LINEAGE_ENV


def tell(context: Context, source: str, slaves: Sequence[str], only: Collection[TableName] = ()) -> None:
    """Say which tables of these slaves have rows of which tables of the master now. It ends no job if that fails.

    Args:
        only: the tables of the master that are meant, if these are not all.
    """
    if not (slaves and os.environ.get(LINEAGE_ENV)):
        return
    try:
        pairs = lineage.table_pairs(context, source, slaves, only)
    except SluiceError as error:
        event("WARNING no lineage", source=source, why=error.fact)
        return
    print(json.dumps({"lineage": [asdict(pair) for pair in pairs]}), flush=True)
