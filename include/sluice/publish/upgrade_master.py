"""A new major version of a master's server, without filling its slaves again. All is published from the old server,
which is noted. The new server is taken if it goes on from there.
"""

from __future__ import annotations

from contextlib import closing

from sluice.capture.reconcile import reconcile
from sluice.capture.successors import expect_continued, expect_copy
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.log import event
from sluice.model.names import Pair
from sluice.model.server_identity import ServerIdentity
from sluice.publish.run import publish_rest
from sluice.state.replication import UNDER_WAY
from sluice.store import kept_versions, known_differences, leases, replications, updates, upgrades
from sluice.store.upgrades import AwaitedUpgrade
from sluice.vendors.protocol.master import Source


def prepare(context: Context, source: str, who: str, *, events_aside: bool = False) -> dict[str, object]:
    """Publish what is queued, and note what the server is. From here on triggers capture, and nothing is published.

    Applications go on. A source that is captured by its log changes over to triggers: no slot has to survive.

    Args:
        who: wants it, for the audit trail.
        events_aside: drop the event triggers; `take` makes them again.

    Returns:
        the server, its last segment, and that in a `note`.

    Raises:
        SluiceError: SLC-961, it cannot be prepared; nothing was changed then.
    """
    _expect_no_update(context, source)
    with closing(context.source(source)) as database:
        _expect_logged(context, source, _identify(database, source))
    captured = _by_triggers(context, source)
    if captured is not context:
        reconcile(captured, source)
    with (
        leases.hold_lease(
            context.store, f"publish {source}", force=True, configuration=context.config.fingerprint
        ) as lease,
        closing(captured.source(source)) as database,
    ):
        publish_rest(captured, source, database, lease)
        if events_aside and (left := database.capture.set_events_aside()):
            drop = "; ".join(f"DROP EVENT TRIGGER {name}" for name in left)
            then = "" if captured is context else " after the DAG bootstrap"
            raise _refusal(
                f"event triggers on the master of {source} are another role's: {', '.join(left)}",
                f"nothing is lost, and publishing goes on{then}; let that role type: {drop};",
            )
        server = _identify(database, source)
        # To publish may have taken long.
        _expect_no_update(context, source)
        upgrades.await_server(context.store, lease, source, server, who)
    event("waits for an upgrade", source=source, server=server.version, segment=server.segment)
    return _result(server, f"segment {server.segment} is the last one of {server.version}; it may be upgraded now")


def take(context: Context, source: str, who: str) -> dict[str, object]:
    """Go on with the server that the connection leads to, if it goes on from the one that was noted; publishing begins.

    On the server that was noted itself it gives the upgrade up.

    Returns:
        as `prepare`.

    Raises:
        SluiceError: SLC-961, nothing was prepared; SLC-962, it is another server. The slaves are as they were.
    """
    awaited = _find_awaited(context, source)
    with (
        leases.hold_lease(context.store, f"publish {source}") as lease,
        closing(_by_triggers(context, source).source(source)) as database,
    ):
        now, tail = database.capture.state(), context.manifest(source).tail()
        if now is None or now.incarnation != awaited.server.incarnation:
            faults = _list_faults(database, awaited.server, tail.number if tail else 0) if now else []
            server = expect_continued(source, awaited.server, now, faults)
            if tail and tail.incarnation != server.incarnation:
                context.manifest(source).succeed(lease, tail, server.incarnation, server.segment, has_all=True)
        else:
            server = now
    reconcile(context, source)
    before = awaited.server.incarnation
    replaced = before if server.incarnation != before else None
    upgrades.end(context.store, source, f"after, on {server.version}", who, replaced)
    event("goes on after an upgrade", source=source, before=awaited.server.version, now=server.version)
    return _result(server, f"publishing goes on with {server.version}, behind segment {server.segment}")


def _expect_no_update(context: Context, source: str) -> None:
    for slave in context.config.slaves_of(source):
        if (status := replications.get(context.store, Pair(source, slave)).status) in UNDER_WAY:
            raise _refusal(
                f"slave {slave} of {source} is {status}",
                "nothing is lost; wait until its initial update is over, or end it",
            )


def _expect_logged(context: Context, source: str, server: ServerIdentity) -> None:
    """See that the log was written from this server: a new one that a publisher has taken over goes on from none."""
    tail = context.manifest(source).tail()
    if tail and tail.incarnation != server.incarnation:
        raise _refusal(
            f"the connection of {source} leads to another server than the one that the change log was written from",
            "nothing was changed; on the new server trigger `after`. If a standby was promoted, let it publish first",
        )


def take_copy(context: Context, source: str, who: str) -> dict[str, object]:
    """Go on with a logical copy of the server that was noted, before applications write to it. Sluice is installed on
    it anew: its transactions have other ids. Nothing tells that it has all rows, so each table is to be compared.

    Returns:
        as `prepare`.

    Raises:
        SluiceError: SLC-961, nothing was prepared; SLC-962, it is the same server, or an upgrade of its data.
    """
    awaited = _find_awaited(context, source)
    with (
        leases.hold_lease(context.store, f"publish {source}") as lease,
        closing(context.source(source)) as database,
    ):
        now, noted, manifest = database.capture.state(), awaited.server, context.manifest(source)
        if now:
            expect_copy(source, noted, now)
        if now and now.installation == noted.installation:
            # The copied triggers captured the copied rows again. The copied transaction ids mean nothing here.
            database.capture.remove(lambda: None)
            now = None
        if now is None:
            database.capture.begin_behind(noted.last_key)
            reconcile(context, source)
        database.capture.claim(context.store.id)
        database.capture.take_over(lease.epoch)
        tail = manifest.tail()
        manifest.rebase(database.capture.accept(lease.epoch, noted.segment, noted.sha256))
        for slave in context.config.slaves_of(source):
            pair = Pair(source, slave)
            tables = [str(table) for table in context.watched_tables(source) if context.gives(pair, table)]
            known_differences.doubt(context.store, pair, tail.last_ordinal if tail else 0, tables)
        updates.forget(context.store, source)
        kept_versions.keep_only(context.store, source, ())
        server = _identify(database, source)
        upgrades.end(context.store, source, f"after, on a copy, {server.version}", who, noted.incarnation)
    event("goes on after an upgrade", source=source, before=noted.version, now=server.version)
    compared = f"verify all rows of each slave: the DAG {context.config.dag_id('verify')}"
    return _result(server, f"publishing goes on with {server.version}, behind segment {noted.segment}; {compared}")


def _find_awaited(context: Context, source: str) -> AwaitedUpgrade:
    if (awaited := upgrades.find(context.store, source)) is None:
        raise _refusal(f"{source} waits for no upgrade", "nothing was changed; trigger `before` on the old server")
    return awaited


def _list_faults(database: Source, noted: ServerIdentity, last: int) -> list[str]:
    """List what else speaks against a server, in sentences."""
    silenced, unreadable = database.capture.silenced(), database.capture.unreadable()
    said = [f"the change log ends with segment {last}, and did with {noted.segment}"] if last != noted.segment else []
    said += [f"triggers of {table} are missing or disabled" for table in silenced]
    return said + [f"columns of {table} changed, and nobody recorded it" for table in unreadable]


def _by_triggers(context: Context, source: str) -> Context:
    """The same, with a source that triggers capture."""
    return context.captured_by(source, "triggers") if context.capture_way(source).from_log else context


def _identify(database: Source, source: str) -> ServerIdentity:
    server = database.capture.state()
    if server is None:
        raise _refusal(
            f"{source} is not installed, or its vendor does not tell which server goes on from which",
            "nothing was changed; after its upgrade trigger the DAG bootstrap with `rebase`, and fill all slaves",
        )
    return server


def _refusal(fact: str, hint: str) -> SluiceError:
    return SluiceError(961, f"no upgrade: {fact}", hint)


def _result(server: ServerIdentity, note: str) -> dict[str, object]:
    return {"server": server.version, "segment": server.segment, "note": note}
