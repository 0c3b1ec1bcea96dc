"""Taking a replication out of a directory of files, where its rows and its position are one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

from sluice.connections import ConnectionInfo
from sluice.model.names import Pair, TableName
from sluice.vendors.parquet.directory import reachable, replication_directory


def remove(
    info: ConnectionInfo,
    pair: Pair,
    schema: str,
    epoch: int,
    tables: Sequence[TableName] | None,
    before: Callable[[], None],
) -> list[str]:
    """See `sluice.vendors.registry.Vendor.remove`; rows and position are one piece."""
    root = replication_directory(info, pair).root
    before()
    with reachable(f"removing {root}"):
        shutil.rmtree(root)
    return [f"directory {root}"]
