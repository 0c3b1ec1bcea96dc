"""Tests chosen by their marks, and their files spread over processes, one of which may end in the middle of a test."""

from __future__ import annotations

from collections import Counter

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# Those that the quick run needs a Spark session in its own process for.
_WITH_SPARK = {"tests/integration/test_task_errors.py": "tests/integration/test_initial_update.py"}


def put_long_files_first(items: list[pytest.Item]) -> None:
    """Files with slow tests, then the large ones: what begins last has to be short."""
    size = Counter(item.path for item in items)
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: (not slow[item.path], -size[item.path]))


def take_cases_out_of_full(items: list[pytest.Item]) -> set[tuple[str, str]]:
    """Let the cases that `full(but=[...])` names run each time. Returns what it names and is no case, by its test."""
    named: set[tuple[str, str]] = set()
    cases: set[tuple[str, str]] = set()
    for item in items:
        callspec = getattr(item, "callspec", None)
        for mark in [mark for mark in item.own_markers if mark.name == "full" and mark.kwargs]:
            test, case = item.nodeid.partition("[")[0], callspec.id if callspec else ""
            named |= {(test, one) for one in mark.kwargs["but"]}
            cases.add((test, case))
            if case in mark.kwargs["but"]:
                item.own_markers.remove(mark)
    return named - cases


class OnceEach(LoadFileScheduling):
    """Hands out each test once. The base hands out again what ended a process, as often as it may start processes."""

    def _split_scope(self, nodeid: str) -> str:
        """One file. Those that need an Airflow are one scope, as are those that need a Spark: both start slowly."""
        file: str = super()._split_scope(nodeid)
        return "tests/dags" if file.startswith("tests/dags/") else _WITH_SPARK.get(file, file)

    def remove_node(self, node: WorkerController) -> str | None:
        """The test that the process was at; what comes after that in its files is left to others."""
        undone = {
            scope: [test for test, done in tests.items() if not done]
            for scope, tests in self.assigned_work.pop(node).items()
        }
        ended = next((test for tests in undone.values() for test in tests), None)
        for scope, tests in undone.items():
            if left := dict.fromkeys((test for test in tests if test != ended), False):
                self.workqueue[scope] = left
        for other in self.assigned_work:
            self._reschedule(other)
        return ended

    def _reschedule(self, node: WorkerController) -> None:
        """A process begins a test when it knows of the next one, or that there is none: with one test it would wait."""
        super()._reschedule(node)
        if not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            self._reschedule(node)
