"""The journal of a dump into files, by which another dump resumes it with the complete files. It is deleted once
everything is stored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from sluice.errors import FencedError, SluiceError
from sluice.initial_update.files.encoding import Packing
from sluice.initial_update.files.manifest import StoredChunk
from sluice.log import event
from sluice.storage.directory import Directory
from sluice.vendors.protocol.tasks import Form

# The directory of them, in that of the files.
NOTES = "notes"
_PLAN = re.compile(r"^(\d+)\.plan$")
_DONE = re.compile(r"^(\d+)\.(\d+)\.done$")


class DumpPlan(BaseModel):
    """The plan of one try of a dump.

    Attributes:
        slaves: it is for these. A process with the leases of all of them is alone with it; if empty, no try goes on.
        parts: what each chunk holds; None if that is of no use to a later try.
        nothing: the chunks of which nothing is to come.
        kept: what earlier tries have stored and stays: the note of each chunk, and what it holds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    slaves: tuple[str, ...]
    form: Form
    parts: tuple[str | None, ...]
    nothing: frozenset[int]
    kept: tuple[tuple[str, str], ...]


class Journal:
    """The notes of one try of a dump.

    Attributes:
        first: what its first chunk is called. Each try goes on counting where the one before has ended.
    """

    def __init__(self, directory: Directory, packing: Packing, first: int = 0) -> None:
        self.first = first
        self._directory = directory.within(NOTES)
        self._packing = packing

    def begin(self, plan: DumpPlan) -> None:
        """Write the plan; jobs of earlier tries are fenced out from here on."""
        self._directory.make()
        self._write(self._plan(0), plan.model_dump_json().encode())

    def plan(self) -> DumpPlan:
        """The plan of the try."""
        return DumpPlan.model_validate_json(self._read(self._plan(0)))

    def is_taken_over(self, chunks: int) -> bool:
        """Whether another try went on after this one, which has so many chunks."""
        return self._directory.has(self._plan(chunks))

    def fence(self, chunks: int) -> None:
        """Check that no other job resumed this try (R6). Raises FencedError SLC-050."""
        if self.is_taken_over(chunks):
            raise FencedError(50, f"another dump took over {self._directory.url}, and goes on with what is there")

    def end(self, chunk: int, stored: StoredChunk) -> None:
        """Record that a chunk is stored."""
        self._write(f"{self.first + chunk:08}.{stored.rows}.done", stored.model_dump_json().encode())

    def ended_chunks(self) -> dict[int, tuple[str, int]]:
        """The stored chunks, each with its note and its row count; once, if a chunk is stored twice."""
        matches = (
            match for name in self._directory.files() if (match := _DONE.match(name)) and int(match[1]) >= self.first
        )
        return {int(match[1]) - self.first: (match[0], int(match[2])) for match in matches}

    def read_chunk(self, note: str) -> StoredChunk:
        """The stored chunk that a note describes."""
        return StoredChunk.model_validate_json(self._read(note))

    def remove(self) -> None:
        """Remove the notes of this try and of earlier ones, after all is stored."""
        self._directory.remove_all()

    def _plan(self, chunks: int) -> str:
        return f"{self.first + chunks:08}.plan"

    def _write(self, name: str, content: bytes) -> None:
        self._directory.write(name, self._packing.encrypt(content, name))

    def _read(self, name: str) -> bytes:
        return self._packing.decrypt(self._directory.read(name), name)


@dataclass(frozen=True)
class InterruptedDump:
    """The directory of a dump that broke off."""

    name: str
    directory: Directory
    notes: Journal
    plan: DumpPlan

    @property
    def next(self) -> int:
        """The number of the first chunk of another try."""
        return self.notes.first + len(self.plan.parts)

    def chunks(self) -> Iterator[tuple[str, str | None]]:
        """The identity of each planned chunk, with its note if it is stored."""
        yield from ((part, note) for note, part in self.plan.kept)
        done = self.notes.ended_chunks()
        for number, part in enumerate(self.plan.parts):
            if part and number not in self.plan.nothing:
                yield part, done[number][0] if number in done else None


def interrupted_dumps(root: Directory, source: str, slaves: Collection[str], packing: Packing) -> list[InterruptedDump]:
    """The interrupted dumps in a location that are for these slaves alone, the newest first."""
    return [
        dump
        for name in sorted(root.directories(), reverse=True)
        if (dump := _read_interrupted(root, name, packing))
        and dump.plan.source == source
        and dump.plan.slaves
        and set(dump.plan.slaves) <= set(slaves)
    ]


def _read_interrupted(root: Directory, name: str, packing: Packing) -> InterruptedDump | None:
    directory = root.within(name)
    try:
        tries = [int(match[1]) for note in directory.within(NOTES).files() if (match := _PLAN.match(note))]
        if not tries:
            return None
        notes = Journal(directory, packing, max(tries))
        return InterruptedDump(name, directory, notes, notes.plan())
    except ValidationError:
        why = "another version of Sluice wrote it"
    except SluiceError as error:
        why = error.fact
    event("passed over", directory=directory.url, why=why)
    return None
