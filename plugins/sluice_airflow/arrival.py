"""Waiting for a directory that somebody copies: in the triggerer, so that nobody's slot is held for days."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from airflow.sdk import Context
from airflow.sdk.bases.sensor import BaseSensorOperator
from airflow.triggers.base import BaseTrigger, TriggerEvent
from pyarrow import ArrowException, fs

from sluice.config import configuration
from sluice_airflow.airflow_versions import NATIVE_OPERATOR, AirflowFailException

POLL_S = 5.0


class FilesArrived(BaseTrigger):
    """Fires when a directory has all of its files, and none of them has changed for a while.

    Whether they are the right ones is for the job that follows to say.

    Args:
        url: the directory, as the triggerer sees it.
        files: how many there will be; a file in a directory of it is none of them.
        quiet_s: seconds without any change.
    """

    def __init__(self, url: str, files: int, quiet_s: float, poll_s: float = POLL_S) -> None:
        super().__init__()
        self.url = url
        self.files = files
        self.quiet_s = quiet_s
        self.poll_s = poll_s

    def serialize(self) -> tuple[str, dict[str, Any]]:
        arguments = {"url": self.url, "files": self.files, "quiet_s": self.quiet_s, "poll_s": self.poll_s}
        return f"{type(self).__module__}.{type(self).__qualname__}", arguments

    async def run(self) -> AsyncIterator[TriggerEvent]:
        before: frozenset[tuple[Any, ...]] | None = None
        quiet_s = 0.0
        while True:
            files = await asyncio.to_thread(self._look)
            if files != before:
                self.log.info("directory=%s files=%d/%d", self.url, len(files), self.files)
                before, quiet_s = files, 0.0
            elif len(files) >= self.files and quiet_s >= self.quiet_s:
                yield TriggerEvent({"files": len(files)})
                return
            await asyncio.sleep(self.poll_s)
            quiet_s += self.poll_s

    def _look(self) -> frozenset[tuple[Any, ...]]:
        """Names, sizes and times of the files that are there; none while the directory cannot be reached."""
        try:
            files, path = fs.FileSystem.from_uri(self.url)
            entries = files.get_file_info(fs.FileSelector(path, allow_not_found=True))
        except (OSError, ArrowException) as error:
            self.log.warning("directory=%s cannot be reached: %s", self.url, error)
            return frozenset()
        seen = ((_name(entry), entry) for entry in entries if entry.type == fs.FileType.File)
        return frozenset((name, entry.size, entry.mtime_ns) for name, entry in seen if not name.startswith("."))


def _name(entry: fs.FileInfo) -> str:
    try:
        return str(entry.base_name)
    except UnicodeDecodeError:
        # It is one of the files; that it is no right one the job that follows says.
        return "no text"


class ArrivalSensor(BaseSensorOperator):
    """Wait for the files that a slave is to be loaded from; deferred at once.

    Args:
        expected: what the job of that name returned, templated.
    """

    template_fields: Sequence[str] = ("expected",)

    def __init__(self, *, expected: Mapping[str, Any] | str, **kwargs: Any) -> None:
        super().__init__(**NATIVE_OPERATOR | kwargs)
        self.expected = expected

    def execute(self, context: Context) -> None:
        assert isinstance(self.expected, Mapping), "it is rendered"
        if not configuration.load().receives_in(str(self.expected["url"])):
            # People can edit a result, and a trigger may reach more than they do.
            raise AirflowFailException(f"no slave waits for files in {self.expected['url']!r}: nothing was looked at")
        self.log.info("waiting for %s files in %s", self.expected["files"], self.expected["url"])
        self.defer(
            # People can edit a result: how often is looked is not for it to say, since all triggers share one thread.
            trigger=FilesArrived(**{name: self.expected[name] for name in ("url", "files", "quiet_s")}),
            method_name="finish",
            timeout=timedelta(seconds=float(self.timeout)),
        )

    def finish(self, context: Context, event: Mapping[str, Any]) -> dict[str, Any]:
        """All is there and has settled."""
        return dict(event)
