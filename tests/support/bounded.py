"""Bounded calls whose time is over when something has happened, however slow the machine is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from sluice import bounded_calls


def end_when(monkeypatch: pytest.MonkeyPatch, happened: Callable[[], bool]) -> None:
    """Let their time be over as soon as `happened`, and not before."""
    clock = SimpleNamespace(monotonic=lambda: float("inf") if happened() else 0.0)
    monkeypatch.setattr(bounded_calls, "time", clock)


def working(key: object) -> bool:
    """Whether a call is under way. One that is not begun yet is not."""
    return f"call {key}" in {thread.name for thread in threading.enumerate()}
