"""The metrics as Prometheus reads them, in its text format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from sluice.model.access import Right
from sluice.monitor import signals
from sluice.monitor.reach import Reach
from sluice.monitor.signals import SIGNALS, Sample
from sluice.pages import overview
from sluice.pages.entry import airflow, needs
from sluice.pages.scraper import METRICS

router = APIRouter(include_in_schema=False)
_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get(METRICS, dependencies=[needs(Right.READ)])
def metrics(request: Request) -> Response:
    """Every figure of every replication and source."""
    reach: Reach = request.app.state.reach
    rows = overview.listed(airflow(request), reach)
    found = signals.gather(airflow(request).context(), rows, reach.has_looked)
    return PlainTextResponse(exposition(found), media_type=_TYPE)


def exposition(samples: Iterable[Sample]) -> str:
    """Samples in the text format of Prometheus 0.0.4: those of a signal stand together, below its meaning."""
    order = {one.name: number for number, one in enumerate(SIGNALS)}
    found = sorted(samples, key=lambda one: order[one.signal.name])
    return "\n".join([*_lines(found), ""])


def _lines(found: Iterable[Sample]) -> Iterator[str]:
    for signal, each in groupby(found, lambda one: one.signal):
        yield f"# HELP {signal.name} {signal.help}"
        yield f"# TYPE {signal.name} {signal.kind}"
        for sample in each:
            labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels.items())
            yield f"{signal.name}{{{labels}}} {sample.value:.15g}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
