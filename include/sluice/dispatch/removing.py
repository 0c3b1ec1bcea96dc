"""A batch without one of its transactions, which somebody has kept aside."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.manifest import Manifest
from sluice.dispatch.seeing import Seeing, layouts_of
from sluice.errors import SluiceError, TransientError
from sluice.model.action import Action
from sluice.model.layout import Layout
from sluice.model.names import Pair
from sluice.model.tolerance import Rejected
from sluice.taking import kept

_Without = tuple[pa.Table, Mapping[int, Layout], list[Rejected]]


def without(changes: pa.Table, ordinal: int, seeing: Seeing, manifest: Manifest) -> _Without:
    """What a slave sees of the other transactions, with the layouts; and the one that is taken out, to be kept.

    That is kept as the slave sees it; as the master wrote it, if it is seeing it that fails.

    Raises:
        SluiceError: one of the others cannot be seen.
    """
    try:
        seen, layouts = seeing.seen(changes)
    except TransientError:
        raise
    except SluiceError:
        gone = pc.equal(changes["ordinal"], ordinal)
        removed = kept(changes, gone)
        unseen = _rejected(removed, manifest.layouts(layouts_of(removed)), unseen=True)
        return *seeing.seen(kept(changes, pc.invert(gone))), unseen
    gone = pc.equal(seen["ordinal"], ordinal)
    return kept(seen, pc.invert(gone)), layouts, _rejected(kept(seen, gone), layouts)


def _rejected(changes: pa.Table, layouts: Mapping[int, Layout], *, unseen: bool = False) -> list[Rejected]:
    rows = (row for row in changes.drop_columns("trans_key").to_pylist() if row["action"] != Action.COMMIT)
    return [Rejected(layouts.get(row.pop("layout")), None, **row, unseen=unseen) for row in rows]


def no_obstacle(pair: Pair, ordinal: int) -> SluiceError:
    """Why a transaction cannot be taken out."""
    return SluiceError(
        170,
        f"{pair} does not stand in front of transaction {ordinal}",
        f"nothing was changed; `./sluice dispatcher {pair.source} {pair.slave}` says in front of which it stands",
    )
