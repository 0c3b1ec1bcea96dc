"""Taking a replication out of a directory of files, where its rows and its position are one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

from sluice import shell
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
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
    """See `sluice.vendors.registry.Vendor.remove`.

    Raises:
        SluiceError: SLC-388, its files are to stay.
    """
    root = replication_directory(info, pair).root
    if tables is None:
        anew = shell.sluice("remove", pair.source, pair.slave)
        raise SluiceError(
            388,
            f"the files of {pair} in {root} are valid as their versions list them, which hold its position",
            f"nothing was changed; type `{anew} --tables` to remove both, or `--store-only` to leave both",
        )
    before()
    with reachable(f"removing {root}"):
        shutil.rmtree(root)
    return [f"directory {root}"]
