"""Selects the changes of a sweep for the log: all, or without long rows and updates that change nothing, or by a
transformer.

A change that is withheld is published as a mark: its key, and nothing else. So transactions keep their order and their
ordinals (R1), a healing purge names every key that was swept (R2), and no slave sees anything of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sluice import extensions
from sluice.changelog.schema import ATTRIBUTES, LOGGED, ROW, SWEPT, have_actions
from sluice.errors import SluiceError, TransientError
from sluice.messages.message import OURS
from sluice.model.action import OF_A_ROW, Action
from sluice.model.layout import Layout
from sluice.model.names import TableName
from sluice.publish.transformer import Transformed, Transformer

SENT = pa.schema([*SWEPT, *(LOGGED.field(name) for name in ("attributes", "description"))])


@dataclass(frozen=True)
class PublishFilter:
    """The publish filter of a source's configuration.

    Attributes:
        unchanged_updates: whether an update is sent that left its row as it was.
        max_row_bytes: the most text that a row may have. A longer one is withheld.
    """

    unchanged_updates: bool = True
    transformer: Transformer | None = None
    max_row_bytes: int | None = None

    def find_lost(self, batch: pa.RecordBatch, layouts: Mapping[int, Layout]) -> dict[TableName, str | None]:
        """The tables of a swept batch of which rows are not published, each with the reason; None: one is too long."""
        lost = batch.filter(pa.array(_are_lost(batch, self.max_row_bytes)))
        reasons: dict[TableName, str | None] = {
            layouts[number].name: None for number in lost.column("layout").to_pylist()
        }
        told = lost.filter(pc.equal(lost.column("action"), Action.LOST))
        for number, new in zip(told.column("layout").to_pylist(), told.column("new").to_pylist(), strict=True):
            reasons[layouts[number].name] = new[0] if new else None
        return reasons

    def apply(self, batch: pa.RecordBatch, layouts: Mapping[int, Layout]) -> pa.RecordBatch:
        """A swept batch as it is published: as many changes, columns as in `SENT`.

        Raises:
            SluiceError: SLC-054, the transformer failed; nothing of what it was asked about is published.
        """
        keep = np.ones(len(batch), dtype=bool) if self.unchanged_updates else ~_are_unchanged(batch)
        keep &= ~_are_lost(batch, self.max_row_bytes)
        given_columns = [pa.nulls(len(batch), ATTRIBUTES)] * 2
        if self.transformer is not None:
            verdict = _ask_transformer(self.transformer, batch, layouts)
            if verdict.keep is not None:
                keep &= verdict.keep.to_numpy(zero_copy_only=False)
            given_columns = [
                given if given is not None else given_columns[0] for given in (verdict.attributes, verdict.description)
            ]
        return pa.RecordBatch.from_arrays([*_mark(batch, keep), *given_columns], schema=SENT)


EVERYTHING = PublishFilter()


def _are_lost(batch: pa.RecordBatch, most: int | None) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """A mask of the changes of which a row has more text, or that the capture left out."""
    actions = batch.column("action")
    lost: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.zeros(len(batch), bool)
    lost |= pc.equal(actions, Action.LOST).to_numpy(zero_copy_only=False)
    # Of most batches no row can be too long.
    if most is not None and batch.nbytes > most:
        texts = np.maximum(*(_lengths(batch.column(name)) for name in ("new", "old")))
        lost |= (texts > most) & have_actions(actions, OF_A_ROW).to_numpy(zero_copy_only=False)
    return lost


def _lengths(images: pa.ListArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The bytes of text in each image, 0 where there is none."""
    texts = pc.fill_null(pc.binary_length(images.flatten()), 0).to_numpy()
    values = pc.fill_null(pc.list_value_length(images), 0).to_numpy()
    until = np.concatenate(([0], np.cumsum(texts, dtype=np.int64)))
    ends = np.cumsum(values)
    lengths: np.ndarray[tuple[int], np.dtype[np.int64]] = until[ends] - until[ends - values]
    return lengths


def _are_unchanged(batch: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """A mask of the updates whose two images are equal, with NULL equal to NULL."""
    old, new = batch.column("old"), batch.column("new")
    widths = pc.equal(pc.list_value_length(old), pc.list_value_length(new))
    same = pc.fill_null(pc.and_(pc.equal(batch.column("action"), Action.UPDATE), widths), False)
    indices = np.flatnonzero(same.to_numpy(zero_copy_only=False))
    before, after = old.take(pa.array(indices)), new.take(pa.array(indices))
    cells, others = before.flatten(), after.flatten()
    equal = pc.fill_null(pc.equal(cells, others), pc.and_(cells.is_null(), others.is_null()))
    rows = np.repeat(np.arange(len(indices)), pc.list_value_length(before).to_numpy())
    mask = np.zeros(len(batch), dtype=bool)
    mask[indices] = np.bincount(rows, ~equal.to_numpy(zero_copy_only=False), len(indices)) == 0
    return mask


def _mark(batch: pa.RecordBatch, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[pa.Array]:
    """The columns of a batch, in which what is not kept is a mark."""
    if keep.all():
        return list(batch.columns)
    kept = pa.array(keep)
    nothing = {"action": pa.scalar(str(Action.COMMIT)), "new": pa.scalar(None, ROW), "old": pa.scalar(None, ROW)}
    return [
        pc.if_else(kept, batch.column(name), nothing[name]) if name in nothing else batch.column(name)
        for name in SWEPT.names
    ]


def _ask_transformer(transformer: Transformer, batch: pa.RecordBatch, layouts: Mapping[int, Layout]) -> Transformed:
    try:
        verdict = extensions.call_in_time(lambda: transformer.transform(batch, layouts))
        return Transformed(
            _column(verdict.keep, pa.bool_(), len(batch)),
            _expect_names(_column(verdict.attributes, ATTRIBUTES, len(batch))),
            _expect_names(_column(verdict.description, ATTRIBUTES, len(batch))),
        )
    except TransientError:
        raise
    except Exception as error:
        raise SluiceError(
            54,
            f"the transformer failed on a batch of {len(batch)} changes from key {batch.column('repl_key')[0]} on: "
            f"{type(error).__name__}: {error}",
            "nothing is lost, these and what follows them wait at the source; fix the transformer, or take it "
            "out of the configuration; the next run goes on",
        ) from error


def _column(given: object, kind: pa.DataType, length: int) -> pa.Array | None:
    if given is None:
        return None
    column = given.combine_chunks() if isinstance(given, pa.ChunkedArray) else given
    if not isinstance(column, pa.Array):
        raise TypeError(f"{type(given).__name__} is no Arrow array")
    if len(column) != length:
        raise ValueError(f"{len(column)} entries for {length} changes")
    column = column.cast(kind)
    if kind == pa.bool_() and column.null_count:
        raise ValueError("`keep` is null for a change")
    return column


def _expect_names(column: pa.MapArray | None) -> pa.MapArray | None:
    if column is not None and (taken := OURS & set(pc.unique(column.keys).to_pylist())):
        raise ValueError(f"the attribute {sorted(taken)[0]} is Sluice's own")
    return column
