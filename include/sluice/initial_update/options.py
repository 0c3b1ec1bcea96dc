"""Refuses combinations of choices in an update's form."""

from __future__ import annotations

from sluice.errors import SluiceError

# How rows come: chunks of the snapshot are copied; programs export and import; or blocks, when the stream goes on.
SNAPSHOT, EXTERNAL, ONLINE = MODES = "snapshot", "external", "online"


def expect_together(mode: str, *, some: bool, keys: bool, store: bool, older: str) -> None:
    """See that an update can be as it is chosen, before anything is changed for it.

    Args:
        mode: one of `MODES`.
        some: it is for some tables alone, or for some keys of theirs.
        keys: it is for these.
        store: its rows go into files.
        older: the version that it is of, if that is not the newest.

    Raises:
        SluiceError: SLC-914.
    """
    if store and mode != SNAPSHOT:
        raise SluiceError(
            914,
            f"what comes in mode {mode} is not stored in files",
            f"no table was touched; trigger initial_update with `store_initial_data`, or with mode {mode}",
        )
    how = ONLINE if keys else SNAPSHOT
    if some and (store or older or mode != how):
        raise SluiceError(
            914,
            f"an update for {'some keys' if keys else 'some tables'} alone goes over the wire, "
            f"{'in blocks' if keys else 'out of one snapshot of now'}",
            f"no table was touched; trigger initial_update with mode {how}, without `version` and "
            "`store_initial_data`; or for all",
        )
