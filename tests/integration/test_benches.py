"""Benches with next to nothing to do: each ends with its figures, and leaves nothing behind.

One of those that share their parts stands for the others.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sluice.bench.report import ROUNDS_ENV

PROJECT = Path(__file__).resolve().parents[2]
BENCHES = [
    pytest.param(
        "capture",
        0.02,
        {"oltp_ratio", "oltp_ratio_durable_idle", "bulk_ratio", "bulk_ratio_by_key", "bulk_ratio_running"},
        id="capture",
    ),
    pytest.param(
        "publish", 0.01, {"changes_per_s", "peak_rss_mb", "backlog_ratio", "queue_growth", "equal"}, id="publish"
    ),
    pytest.param("decode", 0.01, {"t_mb_per_s", "j_mb_per_s", "b_mb_per_s", "equal"}, id="decode"),
    pytest.param(
        "drain log",
        0.01,
        {"seconds", "changes_per_s", "ratio_to_native", "ratio_cold", "ratio_warm", "ratio_with_start", "equal"},
        id="drain-by-log",
    ),
    pytest.param(
        "initial-update",
        0.005,
        {"ratio_to_copy", "files_ratio", "ratio_to_pg_dump", "tenfold_ratio", "peak_rss_mb", "equal"},
        id="initial-update",
        marks=pytest.mark.spark,
    ),
    pytest.param(
        "verify",
        0.01,
        {"rows_per_s", "share_moved", "ratio_different", "found_exactly", "equal"},
        id="verify",
        marks=pytest.mark.spark,
    ),
    pytest.param("mariadb", 0.01, {"rows_per_s", "ratio_to_load_data", "changes_per_s", "equal"}, id="mariadb"),
    pytest.param("relay", 0.02, {"polls_per_s", "polls_per_s_50_clients"}, id="relay"),
    pytest.param("blocks", 0.02, {"master_rate_ratio", "rows_per_s", "equal"}, id="blocks"),
]


@pytest.mark.full
@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.parametrize(("name", "scale", "figures"), BENCHES)
def test_a_small_bench_reports_its_figures_and_leaves_nothing(
    name: str, scale: float, figures: set[str], tmp_path: Path
) -> None:
    name, _, capture = name.partition(" ")
    begin = "import sys; from sluice.bench import run; sys.exit(run(sys.argv[1], float(sys.argv[2]), sys.argv[3]))"
    done = subprocess.run(
        [sys.executable, "-c", begin, name, str(scale), capture or "triggers"],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "include"), "TMPDIR": str(tmp_path), ROUNDS_ENV: "1"},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["bench"] == name
    assert told["figures"].keys() >= figures
    assert told["figures"].get("equal", True) is True
    assert re.search(r"round (\d+) of \1\b", done.stderr)
    if name == "drain":
        phases = told["figures"]["phases"]
        assert {(side, name) for side in phases for name in phases[side]} == {
            (side, name) for side in ("ours", "native") for name in ("start", "cold", "warm")
        }
        assert phases["ours"]["start"]["cpu_s"].keys() >= {"all", "publish", "drain"}
        shown = [line.partition("  ")[0] for line in done.stdout.splitlines()[1:-1]]
        assert shown == [f"{side}, {phase}" for side in phases for phase in phases[side]]
    assert not list(tmp_path.glob("sluice-bench-*"))
