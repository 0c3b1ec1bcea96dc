"""`./sluice demo --files`: the initial data goes in files, which a person would carry; here it is a plain copy."""

from __future__ import annotations

import shutil
from pathlib import Path

from sluice.airflow_api.dags import Dags
from sluice.context import Context
from sluice.model.names import Pair
from sluice.paths import at_home
from sluice.runtime.terminal import Progress
from sluice.store import transfers

# How long a run of the demo may take.
PATIENCE_S = 600.0
_RECEIVE = "receive_initial_files"


def fill(context: Context, dags: Dags, source: str, slaves: list[str], progress: Progress) -> None:
    """Store, let each slave wait, copy to where it waits, and wait until it is filled."""
    conf: dict[str, object] = {"source": source, "slaves": slaves, "store_initial_data": True, "force": True}
    with progress.step("storing the initial data in files while the master changes") as step:
        dags.wait("initial_update", dags.trigger("initial_update", conf), step.update, PATIENCE_S)
    runs = {slave: dags.trigger(_RECEIVE, {"source": source, "slave": slave}) for slave in slaves}
    for slave, run in runs.items():
        if awaited := transfers.awaited_transfer(context.store, Pair(source, slave)):
            directory = Path(at_home(context.config.slave(slave).initial_files.location)) / awaited.name
            progress.note(
                f"Manual Data transfer: copying {awaited.files} files from {awaited.url} to {directory.parent}"
            )
            shutil.copytree(awaited.url, directory)
        with progress.step(f"{slave} notices the files, checks and loads them") as step:
            dags.wait(_RECEIVE, run, step.update, PATIENCE_S)
