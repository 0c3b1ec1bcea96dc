"""The demo's master: its data, which belongs to the role that captures it, and the capture of it."""

from __future__ import annotations

from sluice.capture.grants import grants
from sluice.capture.reconcile import bootstrap
from sluice.context import Context
from sluice.demo.data import load_flights
from sluice.vendors.postgresql.session import Connection

SOURCE = "flights"


def load(superuser: Connection) -> None:
    """Load the tables, as the role that captures them, which is no superuser."""
    superuser.execute("SET ROLE sluice_master")
    load_flights(superuser)
    superuser.execute("RESET ROLE")


def install(context: Context, superuser: Connection) -> None:
    """Install the capture, and give its role the rights that `./sluice grants` prints."""
    bootstrap(context, SOURCE)
    superuser.execute(grants(context, SOURCE).encode())
