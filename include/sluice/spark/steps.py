"""Steps as Spark tasks: one task each, on whichever executor is free."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event, Thread
from uuid import uuid4

from pyspark.errors import PythonException

from sluice import shell
from sluice.connections import open_sealed, sealed_text
from sluice.context import Context
from sluice.errors import AGAIN, TransientError, WorkLost
from sluice.library_errors import classify
from sluice.log import event, record_events, replay
from sluice.spark import session
from sluice.spark.errors import as_text, raise_any
from sluice.spark.tasks import collect
from sluice.spark.versions import spark_errors
from sluice.steps import Result, RunningStep, ThreadStep, Work

# For how long a lost step is asked for again; each of these asks a server that does not answer for half a minute.
_PATIENCE_S = 60.0
_AGAIN_S = 1.0
_PARTING_S = 3.0
_SPARK_ERRORS = spark_errors()
_Task = Callable[[int], Iterator[dict[str, object]]]


class StepCrashed(Exception):
    """A step ended by an error that is none of ours: a defect. Its text has the executor's traceback."""


class SparkSteps:
    """See `sluice.steps.Steps`.

    Args:
        once: a step is never begun a second time here; one that Spark loses fails as transient.
    """

    def __init__(self, context: Context, *, once: bool = False) -> None:
        self._once = once
        # What is relative there is so to this process's home.
        self._config = context.config.model_copy(update={"change_log": context.config.change_log_url})
        self._sealed = sealed_text()

    def start(self, name: str, work: Work) -> RunningStep:
        """Start a task."""
        config, sealed, once = self._config, self._sealed, self._once

        def task(_: int) -> Iterator[dict[str, object]]:
            with record_events() as said:
                try:
                    if once:
                        _expect_first(name)
                    row = {"result": json.dumps(work(Context(config, open_sealed(sealed))))}
                except Exception as error:
                    known = classify(error)
                    # What the step said before, nobody would see else.
                    row = {"failure": as_text(known)} if known else {"crash": traceback.format_exc()}
            yield {**row, "said": json.dumps(list(said))}

        spark_task = _SparkTask(name, task, self._once)
        return ThreadStep(name, spark_task.result, spark_task.cancel)


class _SparkTask:
    def __init__(self, name: str, task: _Task, once: bool) -> None:
        self._name = name
        self._once = once
        self._task = task
        # Of what interrupts it: the name may be that of an earlier one, too.
        self._tag = f"step-{uuid4().hex}"
        self._cancelled = Event()

    def cancel(self) -> None:
        """End the task where it is."""
        self._cancelled.set()
        # A server that is gone is asked for minutes, and who cancels is about to end.
        asking = Thread(target=self._interrupt, daemon=True)
        asking.start()
        asking.join(_PARTING_S)

    def _interrupt(self) -> None:
        with suppress(*_SPARK_ERRORS):
            session.interrupt_tag(self._tag)

    def result(self) -> Result:
        """Wait for it; do it again if Spark loses it.

        Raises:
            SluiceError: what it failed with; SLC-376, Spark does not answer, or loses it again and again.
            StepCrashed: it failed with another error.
        """
        end = float("inf")
        while True:
            try:
                return self._collect()
            except PythonException:
                # The executor lacks the product, or this is a defect.
                raise
            except _SPARK_ERRORS as error:
                reason = _reason(error)
                # Of the first time that it is lost: it may be at work for long before.
                end = min(end, time.monotonic() + _PATIENCE_S)
                if self._once:
                    raise _lost_work_error(self._name, reason) from None
                if self._cancelled.is_set() or time.monotonic() > end:
                    raise TransientError(
                        376,
                        f"Spark lost the step {self._name!r}: {reason}",
                        f"look into the log of Spark's server, or of its executor; nothing is lost, {AGAIN}",
                    ) from None
                # A step begins where the last one came to, so it may be done again.
                event("step again", step=self._name, why=reason)
                time.sleep(_AGAIN_S)
                with suppress(*_SPARK_ERRORS):
                    session.renew()

    def _collect(self) -> Result:
        session.add_tag(self._tag)
        if self._once:
            session.ask_once()
        (row,) = collect(1, self._task, {"result": "string", "said": "string", "crash": "string"}, self._name)
        # An executor's log is where nobody looks for what a job did.
        replay(json.loads(row.said or "[]"))
        raise_any(text for text in (row.failure,) if text)
        if row.crash:
            raise StepCrashed(f"the step {self._name!r} failed on its executor:\n{row.crash}")
        result: Result = json.loads(row.result)
        return result


def _expect_first(name: str) -> None:
    """Refuse what Spark begins again by itself, since an executor was lost: that one may have done the work."""
    from pyspark import TaskContext

    task = TaskContext.get()
    if task is not None and task.attemptNumber():
        raise _lost_work_error(name, "its executor ended before it said what it had done")


def _lost_work_error(name: str, reason: str) -> WorkLost:
    return WorkLost(
        376,
        f"Spark lost {name!r}: {reason}",
        f"it may have been done, or not, which `{shell.status()}` shows; look into the log of Spark's server, or of "
        f"its executor; {AGAIN}",
    )


def _reason(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
