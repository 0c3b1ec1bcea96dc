"""Signals of a job at work."""

from __future__ import annotations

import json

import pytest

from sluice.monitor.signals import LAG, Sample
from sluice.shell import SIGNALS_ENV
from sluice.spark.signals import Teller


@pytest.mark.parametrize(("heard", "said"), [("1", [1, 4]), ("", [])])
def test_how_things_stand_is_said_now_and_then_and_at_the_end(monkeypatch, capsys, heard, said):
    monkeypatch.setenv(SIGNALS_ENV, heard)
    now = [0.0]
    monkeypatch.setattr("sluice.spark.signals.time.monotonic", lambda: now[0])
    tell = Teller(lambda: [Sample(LAG, {"slave": "zurich"}, now[0] + 1)])
    for moment in range(4):
        now[0] = float(moment)
        tell()
    tell.end()
    lines = [json.loads(line)["signals"] for line in capsys.readouterr().out.splitlines()]
    assert lines == [[[LAG.name, {"slave": "zurich"}, float(lag)]] for lag in said]
