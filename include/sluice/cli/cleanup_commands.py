"""Commands of the shell that remove a source: what is installed on it, or all of it."""

from __future__ import annotations

from sluice import shell
from sluice.capture.uninstall import cleanup
from sluice.cli.context import context as _context
from sluice.cli.replication_commands import OPTIONS
from sluice.commands import remove_source as removal
from sluice.commands.leftovers import as_script, leftovers
from sluice.commands.remove_replication import Extent
from sluice.context import Context
from sluice.outside_text import in_one_line, say

_SLAVES = {
    Extent.STORE: "what their slaves have stays",
    Extent.POSITION: "their positions on the slaves are dropped; the tables stay",
    Extent.TABLES: (
        "their positions on the slaves are dropped, with the tables that the last comparison of all rows found equal "
        "to their master's; others stay"
    ),
}


def clean_up(source: str) -> int:
    """Remove the DbResources of a source, and print what there was."""
    for name in cleanup(_context(), source):
        say(in_one_line(f"dropped {name}"))
    say(f"To remove the rest of {source}, and to see what stays, type: {shell.sluice('cleanup', source, '--all')}")
    return 0


def remove_source(source: str, extent: Extent, *, sure: bool) -> int:
    """Remove a source with all that it has, or say what that would be; then what stays. 0 if it was done."""
    context = _context()
    if not sure:
        doomed = removal.expect_source_removable(context, source, extent)
        say(f"Source {source} would be removed:")
        pairs = ", ".join(map(str, doomed.replications))
        say(f"  its replications ({pairs}): {_SLAVES[extent]}" if pairs else "  it has no replications")
        if extent is not Extent.STORE:
            say("  all that Sluice has installed on it, with the changes that were not published")
        say(f"  its change log: {doomed.segments:,} segments, {doomed.bytes:,} bytes")
        for directory in doomed.directories:
            say(f"  initial data: {directory.url}")
        say("  its rows in the control store, but for the audit trail")
    else:
        for part in removal.remove_source(context, source, extent):
            say(in_one_line(f"removed {part}"))
        say(f"Source {source} is removed. Take it and its replications out of the configuration.")
    _say_leftovers(context, source)
    if not sure:
        options = [*OPTIONS[extent], "--yes"]
        say(f"Nothing was changed. To do that, type: {shell.sluice('cleanup', source, '--all', *options)}")
        return 1
    return 0


def _say_leftovers(context: Context, source: str) -> None:
    if script := as_script(leftovers(context, source)):
        say(f"What stays as it is, with the statements that end it, should nothing else need it:\n\n{script}\n")
