"""Types and collations of a definition, looked up in the slave's catalog: no statement has the text that came (R7)."""

from __future__ import annotations

import psycopg
from psycopg import sql

from sluice.errors import SluiceError
from sluice.vendors.postgresql.ddl import definition_text
from sluice.vendors.postgresql.session import Connection, composed

# What the server says of a text that is no name, or that names nothing.
_WRONG = (psycopg.ProgrammingError, psycopg.DataError, psycopg.NotSupportedError)


class TypeNames:
    """The slave's names of types and collations, as its own catalog prints them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._types: dict[str, sql.SQL] = {}

    def type(self, text: str) -> sql.SQL:
        """A type, with its precision or length.

        Raises:
            SluiceError: SLC-321, SLC-322, there is no such type.
        """
        if text not in self._types:
            self._types[text] = self._looked_up(text)
        return self._types[text]

    def collation(self, text: str) -> sql.SQL:
        """A collation. Raises SluiceError SLC-322."""
        try:
            row = self._connection.execute(composed("catalog/collation"), {"name": text}).fetchone()
        except _WRONG as error:
            raise _unknown("collation", text, error) from None
        if row is None:
            raise _unknown("collation", text)
        return sql.SQL(row[0])

    def _looked_up(self, text: str) -> sql.SQL:
        wanted = definition_text.written(definition_text.pieces(text))
        try:
            # It takes the name of one type, and nothing else.
            known = self._connection.execute(composed("catalog/type"), {"name": wanted}).fetchone()
            if known is None:
                raise _unknown("type", text)
            number, is_domain = known
            modifier = -1 if is_domain else self._modifier(wanted)
            named = self._connection.execute("SELECT format_type(%s::oid, %s)", [number, modifier]).fetchone()
        except _WRONG as error:
            raise _unknown("type", text, error) from None
        assert named is not None
        return sql.SQL(named[0])

    def _modifier(self, wanted: str) -> int:
        """The type modifier (precision or length), which the server reports for columns of a result."""
        described = self._connection.execute(sql.SQL("SELECT NULL::{} LIMIT 0").format(sql.SQL(wanted))).pgresult
        assert described is not None
        return described.fmod(0)


def _unknown(kind: str, text: str, error: Exception | None = None) -> SluiceError:
    reason = f" ({str(error).splitlines()[0]})" if error else ""
    return SluiceError(
        322,
        f"the slave has no {kind} {text}{reason}",
        f"nothing of it was executed. If the master has this {kind}, make it on the slave, in the schema that the "
        "configuration gives it there; else see who wrote that definition",
    )
