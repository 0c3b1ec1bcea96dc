"""Files of tests spread over processes, one of which may end in the middle of a test."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class OnceEach(LoadFileScheduling):
    """Hands out each test once. The base hands out again what ended a process, as often as it may start processes."""

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
