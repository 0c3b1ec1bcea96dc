"""Wiping out a schema of a slave before it is filled: what that takes, and taking it. What Sluice has there stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from psycopg import errors

from sluice.config.models import WipeOut
from sluice.errors import SluiceError
from sluice.log import event
from sluice.vendors.postgresql.session import Connection, composed


@dataclass(frozen=True)
class Dropped:
    """Something that goes.

    Attributes:
        kind, name: as a DROP takes them.
        catalog, number: its place in the catalogs.
    """

    kind: str
    name: str
    catalog: int
    number: int


def wiped(session: Connection, wanted: WipeOut, ours: Iterable[str]) -> list[Dropped]:
    """The objects to drop.

    Args:
        ours: tables that stay, wherever they are.

    Raises:
        SluiceError: SLC-214, the schema is the server's, or there is none; SLC-215, others are connected, which is not
            to be.
    """
    if wanted.schema_.startswith("pg_") or wanted.schema_ == "information_schema":
        raise SluiceError(
            214,
            f"the schema {wanted.schema_} cannot be wiped out: it is the server's own",
            "nothing was changed; name the schema that the slave's tables are in, or take `wipe_out` out of the "
            "configuration",
        )
    if others := session.execute(composed("load/connected")).fetchall():
        who = ", ".join(f"{role} ({name or 'unnamed'})" for role, name in others)
        if wanted.if_connected == "refuse":
            raise SluiceError(
                215,
                f"others are connected to the database whose schema {wanted.schema_} is to be wiped out: {who}",
                "nothing was changed; end their sessions, or set `if_connected: warn` in `wipe_out`",
            )
        event("others are connected", who=who)
    named = {"schema": wanted.schema_, "kinds": list(wanted.kinds), "ours": list(ours)}
    return [Dropped(*row) for row in session.execute(composed("load/wiped"), named)]


def expect_wipeable(session: Connection, wanted: WipeOut, ours: Iterable[str]) -> None:
    """See that a schema can be wiped out, as far as its catalog tells; nothing is changed.

    Raises:
        SluiceError: SLC-214, SLC-215, see `wiped`; something that stays depends on a part of it.
    """
    gone = wiped(session, wanted, ours)
    numbers = {"classes": [one.catalog for one in gone], "oids": [one.number for one in gone]}
    if row := session.execute(composed("load/depending"), numbers).fetchone():
        kind, name, why = row
        raise _depended_on(wanted, kind, name, why)


def wipe_out(session: Connection, wanted: WipeOut, ours: Iterable[str]) -> None:
    """Drop it all but ours, in the transaction at hand.

    Raises:
        SluiceError: SLC-214, SLC-215, see `wiped`; something that stays depends on a part of it.
    """
    gone = wiped(session, wanted, ours)
    for one in gone:
        event("wipes out", kind=one.kind, name=one.name)
    # Tables may refer to each other in a circle; what depends on what else is found by trying.
    tables = ", ".join(one.name for one in gone if one.kind == "table")
    left = [("table", tables)] * bool(tables) + [(one.kind, one.name) for one in gone if one.kind != "table"]
    while left:
        failed = {one: error for one in left if (error := _stays(session, *one))}
        if len(failed) == len(left):
            (kind, name), error = next(iter(failed.items()))
            raise _depended_on(wanted, kind, name, error.diag.message_detail or str(error)) from error
        left = list(failed)


def _stays(session: Connection, kind: str, names: str) -> errors.DependentObjectsStillExist | None:
    """Drop it, unless it went with something else. Why not, if something depends on it."""
    try:
        with session.transaction():
            session.execute(f"DROP {kind} IF EXISTS {names}".encode())
    except errors.DependentObjectsStillExist as error:
        return error
    return None


def _depended_on(wanted: WipeOut, kind: str, name: str, why: str) -> SluiceError:
    return SluiceError(
        215,
        f"the schema {wanted.schema_} cannot be wiped out, since something that stays depends on {kind} {name}: {why}",
        "nothing was changed; drop that by hand, or leave this kind out in `wipe_out`",
    )
