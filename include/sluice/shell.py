"""What a person at a shell asks for: status and check, with connections fetched from Airflow as a job gets them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from sluice import config as configuration
from sluice.connections import SEALED_ENV, open_sealed, opened
from sluice.context import Context
from sluice.control import check, status
from sluice.errors import ConfigError


def context(env: Mapping[str, str]) -> Context:
    """Configuration and connections; `env` is the environment of this deployment's Airflow processes."""
    settings = configuration.load()
    if os.environ.get(SEALED_ENV):
        return Context(settings, opened())
    ids = [settings.control, settings.airflow_api]
    ids += [one.connection for one in (*settings.sources.values(), *settings.slaves.values())]
    command = [sys.executable, "-m", "sluice_airflow.sealing", *dict.fromkeys(ids)]
    asked = subprocess.run(command, env=dict(env), capture_output=True, text=True)
    if asked.returncode or not asked.stdout.strip():
        reason = (asked.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise ConfigError(
            14, f"Airflow did not hand out the connections: {reason}", "start everything with `./sluice up`, or add them"
        )
    return Context(settings, open_sealed(asked.stdout.strip().splitlines()[-1]))


def show_status(env: Mapping[str, str], *, as_json: bool) -> int:
    """Print where every replication stands. 0 if all are NORMAL and active."""
    rows = status.standings(context(env))
    print(status.as_json(rows) if as_json else status.as_table(rows))
    return 0 if all(row.status == "NORMAL" and row.dispatcher == "ACTIVE" for row in rows) else 1


def show_check(env: Mapping[str, str]) -> int:
    """Print what was found of everything the configuration names. 0 if nothing is wrong."""
    found = list(check.findings(context(env)))
    for one in found:
        print(f"{'ok  ' if one.good else 'FAIL'} {one.subject}: {one.text}")
    return 0 if all(one.good for one in found) else 1
