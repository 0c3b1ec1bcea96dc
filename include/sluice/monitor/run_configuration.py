"""The configuration that the last runs of a replication went by: a run reads it once, when it begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from sluice.context import Context
from sluice.model.names import Pair
from sluice.store.replication_overview import ReplicationOverview

# So many runs are named in a note.
_NAMED = 5


@dataclass(frozen=True)
class RunConfiguration:
    """The configuration of the last run of a DAG.

    Attributes:
        dag: `drain`, or `publish`.
        fingerprint: of that configuration.
        read_at: when the run began, as ISO 8601.
        newer: the fingerprint of the file, if it is another one by now; else empty.
    """

    dag: str
    fingerprint: str
    read_at: str
    newer: str


def last_runs(context: Context, overview: ReplicationOverview) -> Iterator[RunConfiguration]:
    """The configurations of the last runs of the drain and of the publisher, as far as they are known."""
    now = context.config.fingerprint
    for dag, lease in (("drain", overview.drain), ("publish", overview.publisher)):
        if lease and (fingerprint := lease.configuration):
            yield RunConfiguration(dag, fingerprint, lease.taken_at.isoformat(), "" if fingerprint == now else now)


def not_in_force(last_runs: Mapping[Pair, Sequence[RunConfiguration]]) -> Iterator[str]:
    """A note: the file has another configuration than the last runs of these replications."""
    late = {
        f"{configuration.dag} {pair if configuration.dag == 'drain' else pair.source}": configuration
        for pair, configurations in last_runs.items()
        for configuration in configurations
        if configuration.newer
    }
    if late:
        named = ", ".join(f"{run} {configuration.fingerprint}" for run, configuration in islice(late.items(), _NAMED))
        more = f" and {len(late) - _NAMED:,} more" if len(late) > _NAMED else ""
        newer = next(iter(late.values())).newer
        yield f"configuration {newer} is not in force yet: the next run of each begins with it; the last: {named}{more}"
