"""Records what a comparison found of a table, and what its sample says of the whole of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from sluice.changelog.points import Point
from sluice.context import Context
from sluice.errors import TransientError
from sluice.log import event
from sluice.model.compared_points import ComparedPoint
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.model.sample_bound import SampleBound, sample_bound
from sluice.store import comparisons, replications
from sluice.vendors.protocol.compare import Comparison
from sluice.verify.difference import Difference


def table_bound(job: Comparison, difference: Difference, confidence: float) -> SampleBound | None:
    """The share of the table's rows that can differ at most; None if all were compared, or if they have no key.

    Without a key rows alike are drawn together, and no bound is known that holds for these.
    """
    if job.sample.whole or not job.view.layout.key:
        return None
    estimate = sample_bound(difference.master_rows, difference.different, confidence)
    event("sampled", slave=job.slave, table=job.view.master.name, keys=difference.master_rows, bound=estimate.text)
    return estimate


def expect_enough(at_most: float | None, results: Mapping[str, Mapping[str, Difference]]) -> None:
    """See that samples say as much as was wanted. Raises TransientError SLC-575."""
    for slave, tables in results.items():
        for table, difference in tables.items():
            if at_most and difference.bound and difference.bound.below > at_most:
                raise TransientError(
                    575,
                    f"the sample of {table} on {slave} had too few keys: {difference.master_rows:,}; "
                    f"{difference.bound.text}",
                    "nothing differs so far, nothing was changed; the run tries again by itself, with another sample",
                )


def record(
    context: Context, source: str, point: Point, job: Comparison, difference: Difference, since: Position | None = None
) -> None:
    """Keep what was found of a table in the control store.

    Args:
        since: the position after which rows had to change to be compared; None: all were compared.
    """
    counts = {kind: getattr(difference, kind) for kind in ("missing", "extra", "changed", "more")}
    points = difference.points or [ComparedPoint(point.position, 1)]
    name, pair = job.view.master.name, Pair(source, job.slave)
    body: dict[str, object] = {
        "schema": name.schema,
        "name": name.table,
        # The oldest: a repair asks whether the log has all since then.
        "segment": points[0].position.segment,
        "ordinal": points[0].position.ordinal,
        "points": [[place.position.segment, place.position.ordinal, place.parts, place.at] for place in points],
        "layout": comparisons.shape_of(job.view.layout),
        "percent": job.sample.percent,
        "bound": asdict(difference.bound) if difference.bound else None,
        "update": replications.get(context.store, pair).update_id,
        "on_slave": [job.view.layout.name.schema, job.view.layout.name.table],
        "key": job.view.layout.key_names,
        "columns": difference.columns,
        "counts": counts,
        "own": difference.own,
        "ranges": difference.ranges,
        "share_moved": round(difference.share_moved, 6),
    }
    if job.keys:
        body["within"] = [[key_range.first, key_range.until] for key_range in job.keys]
    if job.only:
        body["only"] = {"keys": len(job.only.keys), "since": str(since)}
    values = {
        "compared": difference.compared,
        "different": difference.different,
        "sample": difference.sample,
        "body": body,
    }
    comparisons.record(context.store, point.id, pair, str(name), values, difference.rows)
