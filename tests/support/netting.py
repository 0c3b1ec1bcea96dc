"""Batches of changes written shortly, and a slave's table after one by its net effect alone."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from sluice.apply.net.effects import Effect, Netted
from sluice.apply.net.net_effect import CountedNet, net
from sluice.changelog.schema import CHANGES
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName

NAME = TableName("public", "t")
COLUMNS = (Column("id", "integer"), Column("v", "text"))
KEYED = Layout(1, NAME, COLUMNS, key=(0,))
SHIFTED = Layout(1, NAME, COLUMNS, key=(0,), deferrable=True)
KEYLESS = Layout(1, NAME, COLUMNS)

Row = tuple[str | None, ...]


def insert(*new):
    return ("I", new, None)


def update(old, new):
    return ("U", new, old)


def delete(*old):
    return ("D", None, old)


TRUNCATE = ("T", None, None)


def changes(*transactions):
    """A batch of transactions, each a list of changes."""
    rows = [
        {"ordinal": ordinal, "trans_key": "1", "repl_key": 1, "layout": 1, "action": action, "new": new, "old": old}
        for ordinal, transaction in enumerate(transactions, 1)
        for action, new, old in transaction
    ]
    return pa.Table.from_pylist(rows, schema=CHANGES)


def applied(table: Counter[Row], layout: Layout, *transactions) -> Counter[Row]:
    """A slave's table after a batch, by what the net effect says alone."""
    batch = changes(*transactions)
    return written(table, Netted(net(layout, batch), batch))


def written(table: Counter[Row], effect: Effect) -> Counter[Row]:
    """A slave's table after an effect, whose pieces have no key in common."""
    rows = Counter() if effect.is_emptied else Counter(table)
    for found, batch in effect.nets():
        if isinstance(found, CountedNet):
            for image, a, b in found.effects:
                rows[tuple(image)] = max(rows[tuple(image)] + a, b)
            continue
        new, old = batch["new"].to_pylist(), batch["old"].to_pylist()
        images = [tuple(new[place]) for place in (*found.changed, *found.fresh)]
        touched = {old[place][0] for place in found.gone} | {image[0] for image in images}
        rows = Counter([row for row in rows.elements() if row[0] not in touched] + images)
    return +rows
