"""A collector of OpenTelemetry, which keeps the metrics that it is sent."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

# Beside it `airflow` would be another module.
_PROGRAM = Path(__file__).with_name("figure_of_task.py")


@dataclass
class Collector:
    """What it was sent: (name, labels, value) of each gauge. `settings` lead an Airflow here."""

    settings: Mapping[str, str]
    gauges: list[tuple[str, Mapping[str, str], float]] = field(default_factory=list)

    def keep(self, body: bytes) -> None:
        """Read a request."""
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                for point in metric.gauge.data_points:
                    labels = {label.key: label.value.string_value for label in point.attributes}
                    self.gauges.append((metric.name, labels, point.as_double))


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector that listens on the loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.keep(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    settings = {"OTEL_ON": "True", "OTEL_HOST": "127.0.0.1", "OTEL_PORT": str(server.server_port)}
    kept = Collector({f"AIRFLOW__METRICS__{name}": value for name, value in settings.items()})
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()


def expect_figure_of_task(python: str | Path, env: Mapping[str, str]) -> None:
    """Let the Airflow of a Python send a figure of ours, as a task does, and expect that it arrives."""
    with collector() as kept:
        done = subprocess.run(
            [python, "-c", _PROGRAM.read_text()],
            env={**env, **kept.settings},
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert ("airflow.sluice.lag_seconds", {"slave": "zurich"}, 4.5) in kept.gauges, done.stderr
