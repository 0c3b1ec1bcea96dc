"""The progress of a DAG run, for people: the rows that it loads or compares, as the pages show them."""

from __future__ import annotations

from sluice.context import Context
from sluice.errors import SluiceError
from sluice.store import comparison_progress, updates


def describe(context: Context, run: str) -> str:
    """The figures of a run that loads or compares; empty if it does neither now, or if the control store is silent.

    Args:
        run: as `dag/run`.
    """
    try:
        if compared := comparison_progress.of_run(context.store, run):
            return f"compared: {compared.text}"
        return "; ".join(f"loaded: {loaded.text}" for loaded in updates.loads(context.store, run))
    except SluiceError:
        return ""
