"""PostgreSQL's own benchmark program, and the tables that it makes."""

from __future__ import annotations

import os
import re
import subprocess

from sluice.bench.server import BenchServer
from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError

CLIENTS = 2
BRANCHES = 10
ACCOUNTS_OF_A_BRANCH = 100_000
TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_tellers", "pgbench_history")
_HINT = "run it again; with an idle machine and --scale 0.1 if it was short of something"


def fill(server: BenchServer, info: ConnectionInfo, branches: int = BRANCHES) -> None:
    """Make the tables, with rows."""
    _run(server, info, "-i", "-q", "-s", str(branches))


def work(
    server: BenchServer, info: ConnectionInfo, run_s: int, *, durable: bool = True, protocol: str = "simple"
) -> tuple[float, int]:
    """Transactions like those of TPC-B for so long: how many a second, how many in all; 0 if there was none."""
    options = "" if durable else "-c synchronous_commit=off"
    command = ("-n", "-M", protocol, "-c", str(CLIENTS), "-T", str(run_s), "--random-seed=7")
    output = _run(server, info, *command, options=options)
    match = re.search(r"processed: (\d+)[^~]*^tps = ([\d.]+)", output, re.MULTILINE)
    return (float(match[2]), int(match[1])) if match else (0.0, 0)


def _run(server: BenchServer, info: ConnectionInfo, *arguments: str, options: str = "") -> str:
    environment = {**os.environ, **server.environment(info), "PGOPTIONS": options}
    command = [str(server.cluster.bin / "pgbench"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SluiceError(947, f"pgbench ended with {done.returncode}: {done.stderr.strip()[-500:]}", _HINT)
    return done.stdout
