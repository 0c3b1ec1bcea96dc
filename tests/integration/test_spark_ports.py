"""The Spark server of `./sluice up` takes nothing from a client that has no secret, on whatever port it listens."""

from __future__ import annotations

import signal
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from urllib.request import urlopen

import grpc
import psutil
import pytest
from support import places

from sluice.runtime import environment, ports, processes, spark_connect
from sluice.runtime.paths import RuntimePaths
from sluice.runtime.processes import Service
from sluice.runtime.terminal import Progress
from sluice.storage import private_files

pytestmark = [pytest.mark.full, pytest.mark.spark, pytest.mark.slow]

# Of Spark's own protocol between its processes.
CALL = 3


@pytest.fixture(scope="module")
def layout(tmp_path_factory) -> RuntimePaths:
    # Spark reads its options as words.
    made = RuntimePaths(tmp_path_factory.mktemp("a home"))
    made.make()
    spark_connect.make_token(made)
    return made


@pytest.fixture(scope="module")
def port() -> int:
    return places.reserve_port()


@pytest.fixture(scope="module")
def pages() -> int:
    return places.reserve_port()


@pytest.fixture(scope="module")
def server(layout, port, pages, java) -> Iterator[Service]:
    """The server as `up` starts it, when it has run its first job."""
    env = environment.child_environment(layout, java)
    started = spark_connect.start(layout, port, pages, env)
    try:
        with Progress().step("Spark Connect") as step:
            spark_connect.warm_up(layout, started, port, env, step)
        yield started
    finally:
        processes.end(processes.family([started]), signal.SIGTERM, 20)


def listening(server: Service) -> dict[int, str]:
    """Every port on which a process of the server listens, with the name of the program."""
    return {
        one.laddr.port: process.name()
        for process in processes.family([server])
        for one in process.net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    }


def answered(port: int) -> bytes:
    """What comes back to a call as Spark's processes make them."""
    said = struct.pack(">qi", 7, 5) + b"hello"
    with socket.create_connection((ports.LOOPBACK, port), 10) as client:
        client.sendall(struct.pack(">qB", 8 + 1 + len(said), CALL) + said)
        client.settimeout(5)
        found = b""
        with suppress(TimeoutError, ConnectionError):
            while b"SASL enabled" not in found and (more := client.recv(65_536)):
                found += more
        return found


def refused_by_grpc(port: int, *token: str) -> bool:
    metadata = [("authorization", f"Bearer {one}") for one in token]
    with grpc.insecure_channel(f"{ports.LOOPBACK}:{port}") as channel:
        call = channel.unary_unary("/spark.connect.SparkConnectService/Config")
        with pytest.raises(grpc.RpcError) as failed:
            call(b"", metadata=metadata, timeout=30)
    return bool(failed.value.code() == grpc.StatusCode.UNAUTHENTICATED)


def test_a_client_without_the_secret_is_refused_on_each_port_but_that_of_the_pages(server, layout, port, pages):
    found = listening(server)
    assert refused_by_grpc(port)
    assert refused_by_grpc(port, "another")
    assert not refused_by_grpc(port, layout.spark_token.read_text()), "the token lets a client in"
    own = [other for other, program in found.items() if program == "java" and other not in (port, pages)]
    assert len(own) == 2, "driver and block manager"
    for other in own:
        assert b"Expected SaslMessage" in answered(other)
    daemons = [other for other, program in found.items() if program != "java"]
    # It tells the number of the process that it begins, and then what it thinks of the first word.
    assert all(answered(other)[4:] == struct.pack(">i", 3) + b"err" for other in daemons)


@pytest.mark.full
def test_every_port_is_on_the_loopback_and_no_command_line_page_or_file_has_the_secret(server, layout, pages):
    for process in processes.family([server]):
        # A worker may end meanwhile.
        with suppress(psutil.Error):
            for one in process.net_connections("inet"):
                assert one.status != psutil.CONN_LISTEN or one.laddr.ip.removeprefix("::ffff:") == ports.LOOPBACK
            words = " ".join(process.cmdline())
            assert "authenticate.secret" not in words
            assert layout.spark_token.read_text() not in words
            assert "_SPARK_AUTH_SECRET" not in process.environ()
    events = [file for file in layout.spark_events.rglob("*") if file.is_file()]
    assert events
    assert stat.S_IMODE(layout.spark_events.stat().st_mode) == private_files.DIRECTORY
    token = layout.spark_token.read_bytes()
    pages_of = ["jobs/", "environment/", "executors/", "connect/", "SQL/", "api/v1/applications"]
    shown = [urlopen(f"{spark_connect.pages(pages)}/{page}").read() for page in pages_of]
    assert not any(token in text for text in [*shown, *(file.read_bytes() for file in events)])
    settings = dict(line.split(" ", 1) for line in (layout.spark / "connect.conf").read_text().splitlines())
    assert settings["spark.authenticate"] == "true"
    assert "spark.authenticate.secret" not in settings
