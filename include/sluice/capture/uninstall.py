"""`./sluice cleanup`: a source that is to be replicated no more gets rid of all that was installed on it."""

from __future__ import annotations

from contextlib import suppress

from sluice.capture.reconcile import make_inconsistent
from sluice.context import Context
from sluice.errors import SluiceError
from sluice.state.replication import Status
from sluice.store import leases, removal


def cleanup(context: Context, source: str) -> list[str]:
    """Drop the DbResources of a source; its slaves, which nothing reaches any more, become INCONSISTENT first.

    Returns:
        what was dropped, as `KIND name`.

    Raises:
        ConfigError: SLC-299, it is captured for another control store.
        TransientError: SLC-051 if a publisher is at work, SLC-036 if a watched table is busy; nothing was changed then.
    """
    context.config.source(source)
    context.store.migrate()
    database = context.source(source)
    database.capture.claim(context.store.id)
    with leases.hold_lease(context.store, f"publish {source}"):
        among = {Status.INITIAL, Status.TRANSITION, Status.NORMAL}
        why = "the DbResources of the source were removed"

        def before() -> None:
            # The trail says that somebody wants this, also if the process ends in between.
            removal.note_removed(context.store, source)
            make_inconsistent(context, source, why, among)

        try:
            gone = database.capture.remove(before)
        except SluiceError:
            # A connection that broke off does not say whether it is gone.
            with suppress(SluiceError):
                if database.capture.is_installed():
                    removal.note_returned(context.store, source)
            raise
        finally:
            database.close()
        removal.note_removed(context.store, source)
        return gone
