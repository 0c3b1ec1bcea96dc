"""The last success and the last error of publishers and drains, in the rows of their leases.

A run that fails at each try holds its lease and renews it. So a lease alone does not tell whether work is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert

from sluice import extensions
from sluice.errors import FencedError, LeaseTaken, TransientError
from sluice.library_errors import unforeseen
from sluice.store.engine import Store
from sluice.store.tables import lease


@dataclass(frozen=True)
class Outcome:
    """The end of the last runs of a publisher or a drain.

    Attributes:
        succeeded_at: when it had nothing left to do last, or went on; None if it never did.
        failed_at: when it failed last; None if it never did.
        error: what it failed with then, with its HINT.
        lasting: that error stays until a person corrects something.
    """

    succeeded_at: datetime | None = None
    failed_at: datetime | None = None
    error: str = ""
    lasting: bool = False

    @property
    def fails(self) -> bool:
        """Whether it failed, and had no success since."""
        return self.failed_at is not None and (self.succeeded_at is None or self.failed_at > self.succeeded_at)

    @classmethod
    def from_row(cls, values: Mapping[str, Any] | None) -> Outcome:
        """The outcome in the row of a lease, in JSON, if there is a row."""
        if not values:
            return cls()
        return cls(_moment(values["succeeded_at"]), _moment(values["failed_at"]), **(values["error"] or {}))


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def note_success(store: Store, name: str) -> None:
    """Record that a run does what it is to do."""
    _note(store, name, succeeded_at=func.clock_timestamp())


@contextmanager
def note_failure(store: Store, name: str) -> Iterator[None]:
    """Record the error that a run ends with. That another run took its place is none."""
    try:
        yield
    except (FencedError, LeaseTaken):
        raise
    except Exception as error:
        # After the signal an error is of a session that it interrupted. The store itself may be what fails.
        if not extensions.leaving.is_set():
            known = unforeseen(error)
            with suppress(Exception):
                told = {"error": str(known), "lasting": not isinstance(known, TransientError)}
                _note(store, name, failed_at=func.clock_timestamp(), error=told)
        raise


def _note(store: Store, name: str, **values: Any) -> None:
    # It may fail before it takes the lease for the first time, which has no epoch then.
    never = {"epoch": 0, "holder": "", "expires_at": func.clock_timestamp()}
    new = insert(lease).values(name=name, **never, **values)
    with store.begin() as connection:
        connection.execute(new.on_conflict_do_update(index_elements=["name"], set_=values))
