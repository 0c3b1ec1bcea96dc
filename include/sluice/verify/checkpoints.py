"""The parts of a comparison, one a task: a table, or a range of its keys. A try of a run goes on where an earlier one
of the same run broke off.

What was found in a part is a fact at the point where it was compared, whatever happened to that try. So the next one
compares the other parts, at a point of its own. Both try the same parts: a cut is written down before it is compared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from typing import Any

from sluice import release, shell
from sluice.changelog.points import Point
from sluice.context import Context
from sluice.errors import SluiceError, SortedOtherwise, TransientError
from sluice.log import event
from sluice.model.compared_points import ComparedPoint, latest
from sluice.model.key_range import KeyInterval
from sluice.model.names import Pair
from sluice.model.position import Position
from sluice.store import compared_parts, replications
from sluice.store.compared_parts import PartOutcome, TablePlan
from sluice.vendors.protocol.compare import Comparison, KeyColumnRange
from sluice.verify.difference import Difference

Differences = list[tuple[Comparison, Difference]]


def this_run() -> str | None:
    """The run that this process belongs to, whichever its try; None without one."""
    return os.environ.get(shell.RUN_ENV, "").rpartition("/")[0] or None


@dataclass(frozen=True)
class _PartState:
    """A part of this comparison: its cut and number there, and the outcome that an earlier try has left."""

    token: str
    number: int
    outcome: PartOutcome | None = None


class Parts:
    """The parts of a comparison at a point.

    Args:
        run: keeps outcomes for its next try; None: nothing is kept, and nothing taken over.
    """

    def __init__(self, context: Context, source: str, point: Point, run: str | None) -> None:
        self._context = context
        self._source = source
        self._point = point
        self._run = run
        self._parts: list[tuple[Comparison, _PartState]] = []
        self._rows: dict[tuple[str, str], int] = {}

    def plan(
        self, slave: str, tables: list[Comparison], cut: Callable[[list[Comparison]], list[Comparison]]
    ) -> list[Comparison]:
        """The comparisons of one slave that are left to do.

        Args:
            tables: one of each.
            cut: cuts them.

        Raises:
            SluiceError: what `cut` raises.
        """
        if self._run is None:
            return cut(tables)
        pair = Pair(self._source, slave)
        plans = compared_parts.plans(self._context.store, self._run, pair)
        update = replications.get(self._context.store, pair).update_id
        shapes = {_table(job): self._fingerprint(job, update) for job in tables}
        planned = {name: plan for name, plan in plans.items() if plan.shape == shapes.get(name)}
        cut_jobs: dict[str, list[Comparison]] = {}
        for job in cut([job for job in tables if _table(job) not in planned]):
            cut_jobs.setdefault(_table(job), []).append(job)
        parts = [part for job in tables for part in self._cut_parts(job, planned, cut_jobs, shapes[_table(job)])]
        self._parts += parts
        taken = sum(part.outcome is not None for _, part in parts)
        if taken:
            event("goes on", slave=slave, done=taken, of=len(parts))
        return [job for job, part in parts if part.outcome is None]

    def _cut_parts(
        self, job: Comparison, planned: Mapping[str, TablePlan], cut_jobs: Mapping[str, list[Comparison]], shape: str
    ) -> list[tuple[Comparison, _PartState]]:
        name = _table(job)
        if plan := planned.get(name):
            parts = [_from_json(job, body) for body in plan.parts]
            return [(part, _PartState(plan.token, n, plan.outcomes.get(n))) for n, part in enumerate(parts)]
        assert self._run is not None
        parts = cut_jobs[name]
        pair = Pair(self._source, job.slave)
        token = compared_parts.plan(self._context.store, self._run, pair, name, shape, list(map(_to_json, parts)))
        return [(part, _PartState(token, n)) for n, part in enumerate(parts)]

    def keep(self, job: Comparison, difference: Difference) -> None:
        """Keep what was found in a part for the next try; that is worth no failure."""
        part = next((part for compared_job, part in self._parts if compared_job is job), None)
        if self._run is None or part is None:
            return
        table = (job.slave, _table(job))
        if difference.rows and self._rows.get(table, 0) + len(difference.rows) > job.keeping.most:
            # A report names no more of them. If each part kept as many, the store would be given many times that.
            return
        self._rows[table] = self._rows.get(table, 0) + len(difference.rows)
        pair = Pair(self._source, job.slave)
        text = json.dumps(difference.to_json())
        try:
            compared_parts.keep(
                self._context.store, self._run, pair, table[1], part.token, part.number, self._point.position, text
            )
        except TransientError as error:
            event("not kept", slave=job.slave, table=table[1], why=error.fact)

    def merge(self, compared: Differences, failed_slaves: Mapping[str, SluiceError]) -> Differences:
        """Put the outcomes of an earlier try beside these, in the order of the parts."""
        if self._run is None:
            return compared
        for slave in [slave for slave, error in failed_slaves.items() if isinstance(error, SortedOtherwise)]:
            self.forget(slave)
        here = {id(job): difference for job, difference in compared}
        return [
            (job, here[id(job)] if part.outcome is None else Difference.from_json(json.loads(part.outcome.difference)))
            for job, part in self._parts
            if job.slave not in failed_slaves
        ]

    def earlier_rows(self) -> list[tuple[Comparison, int]]:
        """The parts that an earlier try has compared, each with its rows."""
        outcomes = [(job, part.outcome) for job, part in self._parts if part.outcome]
        return [(job, Difference.from_json(json.loads(outcome.difference)).compared) for job, outcome in outcomes]

    def points(self, job: Comparison) -> list[ComparedPoint]:
        """The points at which the parts of a table were compared, the oldest first."""
        counts: dict[Position, list[str]] = {}
        for compared_job, part in self._parts:
            if (compared_job.slave, _table(compared_job)) == (job.slave, _table(job)):
                position = part.outcome.position if part.outcome else self._point.position
                counts.setdefault(position, []).append(part.outcome.at.isoformat() if part.outcome else "")
        return [ComparedPoint(position, len(at), latest(at)) for position, at in sorted(counts.items())]

    def forget(self, slave: str) -> None:
        """Forget the parts of a slave: its report has them."""
        if self._run is not None:
            compared_parts.forget(self._context.store, self._run, Pair(self._source, slave))

    def _fingerprint(self, job: Comparison, update: int | None) -> str:
        """All that has to be the same for an outcome to belong to this comparison."""
        newest = self._context.manifest(self._source).tail()
        sides = [(side.vendor, side.connection, sorted(side.trusted)) for side in (job.master, job.replica)]
        infos = [self._context.connection(side.connection) for side in (job.master, job.replica)]
        view = job.view
        facts = [
            release.build(),
            newest and newest.incarnation,
            update,
            sides,
            [(info.host, info.port, info.database) for info in infos],
            view.master.to_json(),
            view.layout.to_json(),
            view.picked,
            _canonical(view.entry.model_dump()),
            view.style and (view.style.name, sha256(view.style.text).hexdigest()),
            # Whatever else says which rows are compared, and how.
            [
                (attribute.name, repr(getattr(job, attribute.name)))
                for attribute in fields(job)
                if attribute.name not in _NOT_IN_FINGERPRINT
            ],
        ]
        return sha256(repr(facts).encode()).hexdigest()


# Of a comparison: what is said of it already, and what is another one in each try.
_NOT_IN_FINGERPRINT = {"sealed", "slave", "view", "master", "replica", "sample", "within", "seeds"}


def _table(job: Comparison) -> str:
    return str(job.view.master.name)


def _canonical(settings: object) -> str:
    """Settings as a text; sets have another order in each process."""
    return json.dumps(
        settings, default=lambda value: sorted(map(str, value)) if isinstance(value, Set) else repr(value)
    )


def _to_json(job: Comparison) -> dict[str, Any]:
    within = job.within and asdict(job.within)
    return {"within": within, "keys": [[key_range.first, key_range.until] for key_range in job.keys]}


def _from_json(job: Comparison, body: Mapping[str, Any]) -> Comparison:
    within = body["within"] and KeyColumnRange(**{**body["within"], "cuts": tuple(body["within"]["cuts"])})
    keys = tuple(KeyInterval(job.view.master.name, *map(_key_values, bounds)) for bounds in body["keys"])
    return replace(job, within=within, keys=keys)


def _key_values(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
