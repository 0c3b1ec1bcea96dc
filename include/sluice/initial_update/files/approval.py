"""Whether a slave goes on by itself when the data that was carried to it is in, and what people are asked if not."""

from __future__ import annotations

from datetime import timedelta

from sluice.changelog import initial_data
from sluice.context import Context
from sluice.outside_text import in_markdown
from sluice.paths import at_home
from sluice.storage.directory import Directory
from sluice.store import replications
from sluice.store.replications import read_holdback
from sluice.store.transfers import Transfer


def may_go_on(context: Context, carried: Transfer, approved: int) -> bool:
    """Whether the gate may open: everything is loaded, and released if that needs an approval.

    Args:
        approved: the update that somebody was asked about, where that is configured.
    """
    return carried.is_in and (carried.update == approved or not _needs_approval(context, carried))


def question(context: Context, loaded: Transfer) -> dict[str, object]:
    """The question to people: `ask`, whether one is needed; `subject`, and `body` in Markdown."""
    pair, location = loaded.pair, context.config.slave(loaded.pair.slave).initial_files.location
    waiting, oldest_s = read_holdback(context.store, pair)
    age = f", the oldest for {timedelta(seconds=round(oldest_s))}" if waiting else ""
    body = [
        f"All initial data of the slave **{pair.slave}** of {pair.source} is loaded. Its gate is still shut.",
        "",
        f"* directory: {in_markdown(Directory(at_home(location)).within(loaded.name).url)}, stored as "
        f"{in_markdown(loaded.url)}",
        f"* rows: {loaded.rows:,}",
        f"* position from which changes follow: {replications.get(context.store, pair).position}",
        f"* changes that wait in the change log: {waiting:,} transactions{age}",
    ]
    return {
        "ask": _needs_approval(context, loaded),
        "subject": f"Let changes of {pair.source} go on to {pair.slave}",
        "body": "\n".join(body),
    }


def _needs_approval(context: Context, carried: Transfer) -> bool:
    """Whether an approval is needed: only if files were carried by hand."""
    settings = context.config.slave(carried.pair.slave).initial_files
    return settings.reactivation == "approval" and not initial_data.holds(context.config, carried)
