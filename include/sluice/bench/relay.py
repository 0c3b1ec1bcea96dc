"""`bench relay`: events a second that the relay serves on the loopback: one client that polls, and 50 at once."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import yaml

from sluice.bench.report import BenchReport, alternate
from sluice.bench.server import SOURCE, BenchServer, private_server
from sluice.config.configuration_text import CONFIG_ENV
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.paths import HOME_ENV
from sluice.publish.run import publish
from sluice.relay.client import RelayClient
from sluice.runtime.terminal import Progress

CLIENTS = 50
_TABLE = "public.readings"
_CREATE = "CREATE TABLE readings (id bigint PRIMARY KEY, sensor text, value numeric(12, 3), taken timestamptz)"
_FILL = "INSERT INTO readings SELECT i, 'sensor ' || i % 100, i / 7.0, now() FROM generate_series({}, {}) AS i"
_PATIENCE_S = 60.0


def measure(scale: float, progress: Progress) -> BenchReport:
    """40,000 rows of four columns, inserted in one transaction, to one client; the same to 50 clients."""
    events = max(200, round(40_000 * scale))
    secrets_of = {f"bench {number}": secrets.token_urlsafe(18) for number in range(CLIENTS)}
    with private_server(progress) as server:
        context = server.context({_TABLE: {}}, {}, schedule={"run_for_s": 0})
        with server.connect(server.database("master")) as session:
            session.execute(_CREATE)
            context.source(SOURCE).capture.install(context.watched_tables(SOURCE), context.watch_settings(SOURCE))
            publish(context, SOURCE, once=True)
            with progress.step("starting the relay"), _relay(server, context, secrets_of) as port:
                made = 0

                def rate(clients: int) -> float:
                    nonlocal made
                    opened = [
                        RelayClient("127.0.0.1", port, secret, name) for name, secret in [*secrets_of.items()][:clients]
                    ]
                    each = events // clients
                    for client in opened:
                        client.add_filter("public", "readings")
                    session.execute(_FILL.format(made + 1, made + each).encode())
                    made += each
                    publish(context, SOURCE, once=True)
                    try:
                        return _rate(opened, each)
                    finally:
                        for client in opened:
                            client.close()

                sides = {"polls_per_s": lambda: rate(1), f"polls_per_s_{CLIENTS}_clients": lambda: rate(CLIENTS)}
                rates = alternate(progress, sides)
    return BenchReport("relay", {"events": events, "clients": CLIENTS}, rates)


def _rate(clients: list[RelayClient], each: int) -> float:
    """Events a second of all of them together, from the first event on."""
    failed: list[BaseException] = []

    def read(client: RelayClient) -> None:
        try:
            _read(client, each)
        except BaseException as error:
            failed.append(error)

    _wait(clients)
    threads = [threading.Thread(target=read, args=[client]) for client in clients]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    if failed:
        raise _failure(f"a client of the relay failed: {failed[0]}")
    return each * len(clients) / took


def _wait(clients: list[RelayClient]) -> None:
    """Until what was published is in the relay's queues: that is not what is measured."""
    time.sleep(1.0)
    for client in clients:
        client.ping()


def _read(client: RelayClient, each: int) -> None:
    end = time.monotonic() + _PATIENCE_S
    count = 0
    while count < each:
        if client.poll() is not None:
            count += 1
        elif time.monotonic() > end:
            raise _failure(f"{count} of {each} events came within {_PATIENCE_S:.0f} s")
    # What was read counts as received with the next poll.
    client.poll()


def _failure(fact: str) -> SluiceError:
    return SluiceError(947, fact, "this is a defect: please report it with the output")


@contextmanager
def _relay(server: BenchServer, context: Context, secrets_of: Mapping[str, str]) -> Iterator[int]:
    """A relay in a process of its own; its port."""
    file = server.directory / "relay.yaml"
    plain = context.config.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    clients = {name: {"connection": name, "tables": [_TABLE]} for name in secrets_of}
    file.write_text(yaml.safe_dump({**plain, "relay": {"clients": clients, "port": 0}}))
    held = {name: ConnectionInfo("generic", password=secret) for name, secret in secrets_of.items()}
    connections = {**context.connections, **held}
    server.hand_over(Context(context.config, connections))
    env = {**os.environ, CONFIG_ENV: str(file), HOME_ENV: str(server.directory)}
    command = [sys.executable, "-m", "sluice.cli", "relay"]
    log = server.directory / "relay.log"
    with (
        log.open("wb") as sink,
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=sink, text=True) as process,
    ):
        try:
            assert process.stdout
            line = process.stdout.readline()
            if not line:
                raise _failure(f"the relay did not start: {log.read_text()}")
            yield int(line.rpartition(":")[2])
        finally:
            process.terminate()
