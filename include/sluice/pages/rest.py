"""The REST API: what the pages show, and what they can do, as JSON. The pages' own buttons use it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sluice import shell
from sluice.airflow_api.dags import Dags
from sluice.commands import dispatcher, roles
from sluice.commands.clear_queue import expect_clearable
from sluice.commands.remove_replication import Extent, expect_removable
from sluice.commands.restart import restart as _restart
from sluice.context import Context
from sluice.errors import SluiceError, TransientError
from sluice.initial_update.cancel import cancel
from sluice.model.access import DagRight, Right
from sluice.model.history import HistoryPoint
from sluice.model.names import INITIAL_UPDATE, Pair
from sluice.model.requester import Requester
from sluice.model.statement import WantedStatement
from sluice.monitor import table_status
from sluice.monitor.health import HealthReport
from sluice.monitor.statement_status import StatementPage, StatementStatusReport
from sluice.monitor.status import ReplicationStatus
from sluice.monitor.table_status import TableStatus
from sluice.pages import health as _health
from sluice.pages import overview
from sluice.pages.airflow import Visitor
from sluice.pages.audit import Asked
from sluice.pages.charts import Span
from sluice.pages.entry import airflow, needs, sees_values, visitor
from sluice.pages.statements import Listed, Shown
from sluice.statements import issue
from sluice.statements import request as requests
from sluice.store import audit_trail, cascades
from sluice.store import history as _history

router = APIRouter(prefix="/api/v1", tags=["sluice"])
_ONE = "/replications/{source}/{slave}"
_ALL = "/sources/{source}"
# So many slaves are named in a sentence.
_NAMED = 12


def storable(text: str) -> str:
    """A text that a database keeps as it is. Raises ValueError."""
    # Half of a character has no bytes.
    text.encode()
    if "\x00" in text:
        raise ValueError("it has a character that no database keeps")
    return text


class Problem(BaseModel):
    """Why something was not done."""

    code: int
    fact: str
    hint: str


class SlaveOutcome(BaseModel):
    """What a command for all slaves of a source did to one of them."""

    slave: str
    done: bool
    why: Problem | None = None


class Receipt(BaseModel):
    """The result of a command; `run` is the DAG run that does it, as `dag/run`, if there is one; `runs` are all of them
    where there may be several. `slaves` are those of a command for all slaves of a source.
    """

    done: str
    run: str | None = None
    runs: list[str] = []
    slaves: list[SlaveOutcome] = []


class History(BaseModel):
    """A replication over some time; `at` is in seconds of the epoch, and `step_s` the length of a step."""

    step_s: int
    moments: list[HistoryPoint]


class InitialUpdate(BaseModel):
    """The choices of an initial update, as those of the DAG `initial_update`."""

    model_config = ConfigDict(extra="forbid")

    source: str
    slaves: Annotated[list[str], Field(min_length=1)]
    mode: Literal["snapshot", "online", "external"] = "snapshot"
    store_initial_data: bool = False
    resume: bool = False
    cascade: Annotated[
        str | None, Field(description="`source/slave` of what is filled next, now and later; `none` forgets it")
    ] = None


class Issue(BaseModel):
    """An SQL statement for the master and its slaves.

    Attributes:
        schema_: where names without a schema are looked up, on every node.
        allow_varying: execute it although it may do something else on each node.
        max_entries: rows of each answer that are kept; as many as the configuration allows, if nothing is said.
        prio: start a publisher at once, if none is at work. Nothing in the stream is passed.
    """

    model_config = ConfigDict(extra="forbid")

    sql: Annotated[str, Field(min_length=1, max_length=50_000), AfterValidator(storable)]
    schema_: Annotated[str, Field(alias="schema", min_length=1, max_length=63), AfterValidator(storable)] = "public"
    allow_varying: bool = False
    max_entries: Annotated[int | None, Field(ge=0, le=1_000)] = None
    prio: bool = False


class IssueResult(Receipt):
    """A statement that is executed by `run`; its `number` leads to the answers."""

    number: int


class First(BaseModel):
    """The transaction that a person saw in front of a slave."""

    model_config = ConfigDict(extra="forbid")

    ordinal: int


class Removal(BaseModel):
    """What a replication is taken out of."""

    model_config = ConfigDict(extra="forbid")

    extent: Extent


PROBLEMS: dict[int | str, dict[str, Any]] = {
    number: {"model": Problem} for number in (400, 401, 403, 404, 408, 409, 413, 422, 500, 503)
}


@router.get("/replications", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def replications(request: Request) -> list[ReplicationStatus]:
    """Every configured replication, without the reasons why one stands still."""
    return overview.list_replications(airflow(request), request.app.state.reach)


@router.get(_ONE, dependencies=[needs(Right.READ)], responses=PROBLEMS)
def replication(request: Request, source: str, slave: str) -> ReplicationStatus:
    """One replication, with its reasons."""
    pair, keys = Pair(source, slave), sees_values(request)
    return overview.find_replication(airflow(request), request.app.state.reach, pair, keys=keys)


@router.post(f"{_ONE}/standby", dependencies=[needs(Right.SWITCH)], responses=PROBLEMS)
def standby(request: Request, source: str, slave: str) -> Receipt:
    """Deliver nothing to the slave until somebody activates it. The change log keeps everything for it."""
    context, dags = command_ports(request)
    dispatcher.standby(context, dags, Pair(source, slave), visitor(request).user)
    return Receipt(done=f"{slave} is on standby")


@router.post(f"{_ONE}/activate", dependencies=[needs(Right.SWITCH)], responses=PROBLEMS)
def activate(request: Request, source: str, slave: str) -> Receipt:
    """Deliver to the slave again."""
    context, dags = command_ports(request)
    dispatcher.activate(context, dags, Pair(source, slave), visitor(request).user)
    return Receipt(done=f"{slave} is active")


@router.post(f"{_ONE}/cancel-update", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def cancel_update(request: Request, source: str, slave: str) -> Receipt:
    """End the initial update that is under way, at once: the slave becomes INCONSISTENT."""
    context, who = airflow(request).context(), visitor(request)
    person = Requester(who.user, tuple(who.roles or ()))
    roles.expect_allowed(context, person, source, [slave], "cancel_update", may=partial(_may_trigger, who))
    ended = cancel(context, source, [slave], who.user)
    if not ended.cancelled:
        raise SluiceError(
            172,
            f"no initial update of {slave} is under way: it is {ended.idle[slave]}",
            f"nothing was changed; see `{shell.status()}`",
        )
    return Receipt(done=f"the initial update of {slave} is cancelled")


@router.post(f"{_ONE}/remove-first", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def remove_first(request: Request, source: str, slave: str, first: First) -> Receipt:
    """Keep the transaction aside that the slave stands in front of, if it is still this one; then activate it."""
    context, dags = command_ports(request)
    stuck = overview.find_replication(airflow(request), request.app.state.reach, Pair(source, slave)).stuck
    if stuck is None:
        raise SluiceError(172, f"no transaction blocks {slave}", f"nothing was changed; see `{shell.status()}`")
    if stuck.ordinal != first.ordinal:
        raise SluiceError(
            172,
            f"{slave} stands in front of transaction {stuck.ordinal}, and no longer of {first.ordinal}",
            "nothing was changed; look at that one, and decide again",
        )
    run = dags.trigger("administer", {"source": source, "slave": slave, "remove_first": stuck.ordinal})
    return Receipt(
        done=f"transaction {stuck.ordinal} is being removed", run=f"{context.config.dag_id('administer')}/{run}"
    )


@router.post(f"{_ONE}/clear-queue", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def clear_queue(request: Request, source: str, slave: str) -> Receipt:
    """Discard the transactions that wait for the slave, which is INCONSISTENT then, and is to be filled again."""
    context, dags = command_ports(request)
    expect_clearable(context, Pair(source, slave))
    run = dags.trigger("administer", {"source": source, "slave": slave, "clear_queue": True})
    return Receipt(done=f"the queue of {slave} is being cleared", run=f"{context.config.dag_id('administer')}/{run}")


@router.post(f"{_ONE}/remove", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def remove(request: Request, source: str, slave: str, removal: Removal) -> Receipt:
    """Take the replication out of the control store and of the slave, perhaps with its tables there."""
    context, dags = command_ports(request)
    context.config.replication(source, slave)
    expect_removable(context, Pair(source, slave), removal.extent)
    run = dags.trigger("administer", {"source": source, "slave": slave, "remove": removal.extent})
    return Receipt(done=f"{source} → {slave} is being removed", run=f"{context.config.dag_id('administer')}/{run}")


@router.post("/initial-updates", dependencies=[needs(Right.FILL)], responses=PROBLEMS)
def initial_update(request: Request, wanted: InitialUpdate) -> Receipt:
    """Fill slaves from their master; what their watched tables hold is replaced."""
    context, dags = command_ports(request)
    for slave in wanted.slaves:
        context.config.replication(wanted.source, slave)
    if wanted.cascade and wanted.cascade.strip() != cascades.NONE:
        context.config.parse_pair(wanted.cascade)
    run = dags.trigger(INITIAL_UPDATE, wanted.model_dump())
    return Receipt(done=f"{', '.join(wanted.slaves)}: filled", run=f"{context.config.dag_id(INITIAL_UPDATE)}/{run}")


@router.post(f"{_ONE}/restart", dependencies=[needs(Right.FILL)], responses=PROBLEMS)
def restart(request: Request, source: str, slave: str) -> Receipt:
    """Fill the slave again with the choices of its last initial update; what its watched tables hold is replaced."""
    context, dags = command_ports(request)
    runs = _restart(context, dags, source, [slave])
    return Receipt(done=f"{slave}: filled again", run=runs[0], runs=runs)


@router.post(f"{_ALL}/restart", dependencies=[needs(Right.FILL)], responses=PROBLEMS)
def restart_all(request: Request, source: str) -> Receipt:
    """Fill every slave of a source again, as one of them; those with the same choices by one run."""
    context, dags = command_ports(request)
    runs = _restart(context, dags, source)
    return Receipt(done=f"all slaves of {source}: filled again", run=next(iter(runs), None), runs=runs)


@router.post(f"{_ALL}/recreate-triggers", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def recreate_triggers(request: Request, source: str) -> Receipt:
    """Make what captures the changes of the source anew: the DAG `bootstrap`."""
    context, dags = command_ports(request)
    context.config.source(source)
    run = dags.trigger("bootstrap", {"source": source, "recreate_triggers": True})
    dag_run = f"{context.config.dag_id('bootstrap')}/{run}"
    return Receipt(done=f"the triggers of {source} are being made anew", run=dag_run)


@router.post(f"{_ALL}/standby", dependencies=[needs(Right.SWITCH)], responses=PROBLEMS)
def standby_all(request: Request, source: str) -> Receipt:
    """Deliver nothing to any slave of the source, except to those whose initial update is under way."""
    return _switch(request, source, dispatcher.standby, "on standby")


@router.post(f"{_ALL}/activate", dependencies=[needs(Right.SWITCH)], responses=PROBLEMS)
def activate_all(request: Request, source: str) -> Receipt:
    """Deliver to every slave of the source again, except where something else shuts the gate."""
    return _switch(request, source, dispatcher.activate, "active")


@router.get(f"{_ONE}/history", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def history(request: Request, source: str, slave: str, span: Span = Span.HOURS) -> History:
    """How a replication was, as the charts show it: the most of each step. Steps without a record are missing."""
    context = airflow(request).context()
    context.config.replication(source, slave)
    moments = _history.series(context.store, Pair(source, slave), seconds=span.seconds, step_s=span.step_s)
    return History(step_s=span.step_s, moments=moments)


@router.get(f"{_ALL}/tables", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def tables(request: Request, source: str) -> list[TableStatus]:
    """The tables of a source: their activity, and how each slave's copy of them is."""
    return table_status.tables(airflow(request).context(), source)


@router.get("/audit", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def audit(request: Request, asked: Asked) -> audit_trail.AuditPage:
    """Who did what, the newest first, a hundred at a time; `older` is the `before` of the next hundred."""
    return audit_trail.page(airflow(request).context().store, asked)


@router.get("/health", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def health(request: Request) -> HealthReport:
    """How everything is that the configuration names, as `./sluice check` says it; what is wrong first."""
    return _health.report(request)


@router.post("/health", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def check_again(request: Request) -> Receipt:
    """Look at everything again, in the background; `under_way` of the report is true until it is done."""
    if not _health.again(request):
        return Receipt(done="everything is being looked at already")
    # Without a control store the look is needed most.
    with suppress(TransientError):
        audit_trail.note_rarely(airflow(request).context().store, "check", visitor(request).user)
    return Receipt(done="everything is being looked at")


@router.get("/statements/{source}", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def statements(page: Listed) -> StatementPage:
    """The statements of a source, the newest first, without answers; administrators alone see their texts."""
    return page


@router.post("/statements/{source}", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def issue_statement(request: Request, source: str, wanted: Issue) -> IssueResult:
    """Execute a statement on the master, and then, each at its place in the stream, on the slaves."""
    context, dags = command_ports(request)
    rows = issue.expect_bounded(context, source, wanted.max_entries)
    asked = WantedStatement(wanted.sql, wanted.schema_, wanted.allow_varying, rows, wanted.prio)
    number, run = requests.request(context, dags, source, asked, visitor(request).user)
    return IssueResult(done=f"statement {number} is being executed", run=run, runs=[run], number=number)


@router.get("/statements/{source}/{number}", dependencies=[needs(Right.READ)], responses=PROBLEMS)
def statement(report: Shown) -> StatementStatusReport:
    """A statement with what each node answered; administrators alone see its text and the answers."""
    return report


@router.post("/statements/{source}/{number}/withdraw", dependencies=[needs(Right.ADMINISTER)], responses=PROBLEMS)
def withdraw_statement(request: Request, source: str, number: int) -> Receipt:
    """Keep a statement from being executed, as long as its run has not begun it."""
    context, _ = command_ports(request)
    context.config.source(source)
    requests.withdraw(context, source, number, visitor(request).user)
    return Receipt(done=f"statement {number} is withdrawn")


@router.get("/openapi.json", dependencies=[needs(Right.READ)], include_in_schema=False)
def openapi(request: Request) -> dict[str, Any]:
    """The description of this API."""
    description: dict[str, Any] = request.app.openapi()
    return description


def _may_trigger(who: Visitor, dag: str) -> bool:
    return who.may(dag, DagRight.TRIGGER)


def _switch(request: Request, source: str, command: dispatcher.Command, what: str) -> Receipt:
    context, dags = command_ports(request)
    done = dispatcher.switch_source(context, dags, source, command, visitor(request).user)
    left = [f"; left alone: {name} ({error.fact})" for name, error in islice(done.left_alone.items(), _NAMED)]
    if more := len(done.left_alone) - len(left):
        left.append(f"; left alone: {more:,} more")
    names, rest = done.switched[:_NAMED], len(done.switched) - _NAMED
    named = ", ".join([*names, f"{rest:,} more"] if rest > 0 else names)
    outcomes = [SlaveOutcome(slave=name, done=True) for name in done.switched]
    outcomes += [
        SlaveOutcome(slave=name, done=False, why=Problem(code=error.code, fact=error.fact, hint=error.hint))
        for name, error in done.left_alone.items()
    ]
    return Receipt(done=f"{what}: {named}{''.join(left)}", slaves=outcomes)


def command_ports(request: Request) -> tuple[Context, Dags]:
    """The ports of a command; in Airflow it acts as the person who gives it."""
    context = airflow(request).context()
    return context, context.dags(visitor(request).token)
