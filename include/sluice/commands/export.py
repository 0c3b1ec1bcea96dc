"""A range of a source's change log as messages, streamed to a file or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa

from sluice.changelog.manifest import Manifest, Segment
from sluice.changelog.schema import LOGGED
from sluice.changelog.segment_files import SegmentFiles
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.messages.formats import as_json_lines, as_xml
from sluice.messages.from_changes import Describing, Labels
from sluice.messages.message import Description, Row
from sluice.vendors.registry import master

Form = Callable[[Iterable[Description | Row], Mapping[str, str]], Iterator[str]]
FORMS: Mapping[str, Form] = {"xml": as_xml, "jsonl": as_json_lines}


def export(context: Context, source: str, first: int | None, last: int | None, form: str, to: Path | None) -> int:
    """Write the messages of the transactions from `first` to `last`; None is where the log begins, or ends now.

    Args:
        to: a file, which is there when it is whole; None is the standard output.

    Returns:
        How many transactions the range has.

    Raises:
        SluiceError: SLC-056 if the log does not have all of them; SLC-659 if the file cannot be written.
    """
    settings = context.config.source(source)
    manifest = context.manifest(source)
    segments, first, last = _range(source, manifest, first, last)
    labels = Labels(
        db_id=settings.messages.db_id or context.connection(settings.connection).database,
        version=settings.messages.version,
        collected=settings.messages.max_collected_statements,
        on_create=settings.messages.max_rows_on_create,
    )
    describing = Describing(labels, manifest.layouts, master(settings.vendor).message_values)
    parts = describing.descriptions(_changes(context.files(), segments, first, last))
    about = {"source": source, "from": str(first), "to": str(last)}
    with _output(to) as file:
        for text in FORMS[form](parts, about):
            file.write(text.encode())
    return last - first + 1


def _range(source: str, manifest: Manifest, first: int | None, last: int | None) -> tuple[list[Segment], int, int]:
    kept = sorted(manifest.kept_segments(), key=lambda segment: segment.number)
    end = manifest.end().ordinal
    begin = kept[0].first_ordinal if kept else end + 1
    first = begin if first is None else first
    last = end if last is None else last
    if not begin <= first <= last + 1 <= end + 1:
        raise SluiceError(
            56,
            f"transactions {first} to {last} were asked for, but the change log of {source} has {begin} to {end}",
            "ask for a part of what it has; what is older was trimmed when every slave had it",
        )
    return [segment for segment in kept if segment.last_ordinal >= first and segment.first_ordinal <= last], first, last


def _changes(files: SegmentFiles, segments: Iterable[Segment], first: int, last: int) -> Iterator[pa.RecordBatch]:
    for segment in segments:
        for batch in files.read(segment.file, first - 1, LOGGED):
            ordinals = batch.column("ordinal").to_numpy()
            low, high = ordinals.searchsorted(first, "left"), ordinals.searchsorted(last, "right")
            yield batch.slice(low, high - low)
            if high < len(ordinals):
                return


@contextmanager
def _output(to: Path | None) -> Iterator[IO[bytes]]:
    if to is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    unfinished = to.parent / f".{to.name}.{os.getpid()}"
    try:
        with unfinished.open("xb") as file:
            yield file
        unfinished.replace(to)
    except OSError as error:
        raise SluiceError(659, f"{to} cannot be written: {error.strerror}", "make room, or name another file") from None
    finally:
        unfinished.unlink(missing_ok=True)
