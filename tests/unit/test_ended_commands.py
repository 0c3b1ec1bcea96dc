"""What a command does that a signal ends: the same, whichever it is."""

from __future__ import annotations

import os
import signal

import pytest

from sluice.cli.signals import end_alike, exit_code
from sluice.demo import run as demo


@pytest.fixture
def handlers():
    """The handlers of a command that a person has started; those from before are put back."""
    fresh = {
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        # A shell lets what it starts in the background ignore it.
        signal.SIGINT: signal.default_int_handler,
    }
    before = {number: signal.signal(number, handler) for number, handler in fresh.items()}
    yield tuple(fresh)
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_command_ends_on_each_signal_as_on_ctrl_c_with_its_own_exit_code(handlers):
    end_alike()
    for number in handlers:
        with pytest.raises(KeyboardInterrupt) as ended:
            os.kill(os.getpid(), number)
        assert exit_code(ended.value) == 128 + number


def test_what_is_ignored_stays_ignored(handlers):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    end_alike()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("once", [False, True])
def test_a_demo_that_is_ended_says_what_stays_or_stops_all(monkeypatch, capsys, once):
    def ended(*_):
        raise KeyboardInterrupt(signal.SIGTERM)

    stopped = []
    monkeypatch.setattr(demo, "_expect_own_configuration", lambda: None)
    monkeypatch.setattr(demo, "up", ended)
    monkeypatch.setattr(demo, "down", stopped.append)
    monkeypatch.setenv("SLUICE_CONFIG", "")
    with pytest.raises(KeyboardInterrupt) as interrupted:
        demo.run(once=once)
    assert exit_code(interrupted.value) == 143
    told = capsys.readouterr().err
    assert ("./sluice down stops it" in told, len(stopped)) == ((False, 1) if once else (True, 0))
