"""Writing changes one by one, in the master's order: prepared statements for each table and layout.

A row is found by its key. Where the master's table has none, any one row that looks like the old image is taken, so
that as many rows change as did there. The end is that of a net effect, and so is what is put back or passed over.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

import psycopg
from psycopg import sql

from sluice.apply.row_changes import Image, RowChange
from sluice.errors import SluiceError
from sluice.model.action import Action
from sluice.model.row_conflict import ConflictAction, RowConflict, Tolerated
from sluice.model.write_policy import WritePolicy
from sluice.vendors.postgresql.errors import translated
from sluice.vendors.postgresql.session import Connection, composed
from sluice.vendors.postgresql.write.pipeline import Pipeline, Prepared, Sent
from sluice.vendors.postgresql.write.staging import StagedTable
from sluice.vendors.postgresql.write.statement_limit import StatementLimit, too_slow

_REJECTING = (ConflictAction.STOP, ConflictAction.RECORD)


class PreparedStatements:
    """The statements for one table, prepared in this session."""

    def __init__(self, connection: Connection, target: StagedTable, policy: WritePolicy) -> None:
        self.target = target
        self._statements: dict[str, Prepared] = {}
        self._policy = policy
        self._name = target.stage.encode()
        # What tells rows apart.
        lookup = target.searched or target.key
        numbered = [index for index in target.written if target.columns[index].numbered]
        # Values of an old image, by which its row is found.
        self._old = target.written if target.searched else lookup or target.written
        # What an UPDATE of the other columns leaves as it is.
        self._fixed = sorted({*lookup, *numbered})
        self._others = [index for index in target.written if index not in self._fixed]
        # Whether an update of which nothing is known but that the key stayed is one of those.
        self._fixed_is_lookup = self._fixed == sorted(lookup)
        # Else a row that moves is put anew: a number that the database gives is taken from an INSERT alone, and where
        # there are rules no UPDATE tells whether it found its row.
        self._moves = not numbered and not target.ruled
        if target.ruled and not target.key:
            self._others = []
        # No index lets a key be there once at most.
        self._doubling = bool(target.key) and not target.enforced
        self._prepare(connection)

    def statements(self, change: RowChange, *, replace: bool = False) -> Iterator[Sent]:
        """The statements for one change, with the configured ones before and after it.

        Args:
            replace: a row that bears the key of one that comes makes room for it.
        """
        if change.action in self._policy.before:
            yield self._sent(f"before_{change.action}", [])
        yield from self._carried_out(change, replace=replace)
        if change.action in self._policy.after:
            yield self._sent(f"after_{change.action}", [])

    def _carried_out(self, change: RowChange, *, replace: bool) -> Iterator[Sent]:
        rejects = change if self._policy.missing in _REJECTING else None
        unknown = change.action == Action.UPDATE and change.old is None
        if unknown:
            change = change._replace(old=change.new)
        new, old = change.new, change.old
        if self._doubling and change.action in "UD" and not self.target.searched:
            yield self._sent("alone", self._values(old, self.target.key), 0, RowConflict.DUPLICATE)
        if change.action == Action.TRUNCATE:
            yield self._sent("empty", [])
        elif change.action == Action.DELETE:
            yield self._sent("delete", self._values(old, self._old), 1, RowConflict.MISSING, rejects)
        elif change.action == Action.INSERT:
            yield from self._inserted(change, replace=replace)
        elif (
            self._others
            and (self._fixed_is_lookup or not unknown)
            and all(_at(new, index) == _at(old, index) for index in self._fixed)
        ):
            yield from self._updated("update", change, rejects)
        elif self._moves and not replace:
            if self._doubling and (key := self._values(new, self.target.key)) != self._values(old, self.target.key):
                yield self._sent("free", key, 0, RowConflict.DUPLICATE)
            yield from self._updated("move", change, rejects)
        else:
            yield self._sent("delete", self._values(old, self._old), 1, RowConflict.MISSING)
            yield from self._inserted(change, replace=replace)

    def _updated(self, kind: str, change: RowChange, rejects: RowChange | None) -> Iterator[Sent]:
        old, whole = self._values(change.old, self._old), self._values(change.new, self.target.written)
        if not rejects and not self.target.ruled:
            yield self._sent(kind, whole + old, 0, RowConflict.MISSING)
            return
        some = self._values(change.new, self._others) if kind == "update" else whole
        yield self._sent(f"{kind}_found", some + old, 1, RowConflict.MISSING, rejects)
        if not rejects:
            yield self._sent("put_back", whole)

    def _inserted(self, change: RowChange, *, replace: bool) -> Iterator[Sent]:
        if self._policy.duplicate in _REJECTING:
            yield self._sent("new", self._values(change.new, self.target.written), 1, RowConflict.DUPLICATE, change)
            return
        if self.target.key and (replace or self._doubling):
            yield self._sent("free", self._values(change.new, self.target.key), 0, RowConflict.DUPLICATE)
        yield self._sent("insert", self._values(change.new, self.target.written))

    def _sent(
        self,
        kind: str,
        values: Sequence[bytes | None],
        wanted: int = 0,
        conflict: RowConflict | None = None,
        rejects: RowChange | None = None,
    ) -> Sent:
        counted = (self.target.name, conflict) if conflict else None
        return Sent(self._statements[kind], values, wanted, counted, rejects, self.target.coded)

    def _values(self, image: Image, indices: Sequence[int]) -> list[bytes | None]:
        return [_at(image, index) for index in indices]

    def _prepare(self, connection: Connection) -> None:
        written, fixed = self.target.written, len(self.target.written)
        values = {index: _parameter(number) for number, index in enumerate(written, 1)}
        parts = {**self.target.parts, "values": _list(values.values())}
        self._made(connection, "empty", composed("write/empty", **parts))
        self._made(connection, "insert", composed("write/replay_insert", **parts))
        self._made(connection, "delete", composed("write/replay_delete", **parts, same=self._same(1)))
        if self.target.key:
            by_key = self._by_key(map(_parameter, count(1)))
            self._made(connection, "free", composed("write/replay_delete", **parts, same=by_key))
        if self._doubling:
            other = self._by_key(map(_parameter, count(1)), "one")
            self._made(connection, "alone", composed("write/replay_alone", **parts, same=by_key, same_one=other))
        if self.target.key and self.target.ruled:
            same_key = self._by_key(values[index] for index in self.target.key)
            self._made(connection, "put_back", composed("write/replay_put_back", **parts, same=same_key))
        if self._policy.duplicate in _REJECTING:
            self._made(connection, "new", composed("write/replay_new", **parts))
        for kind, indices in (("update", self._others), ("move", written if self._moves else ())):
            if indices:
                named = _list(sql.Identifier(self.target.columns[index].name) for index in indices)
                some = {"set": named, "set_values": _list(values[index] for index in indices)}
                whole = {**parts, **some, "same": self._same(fixed + 1)}
                if not self.target.ruled:
                    self._made(connection, kind, composed("write/replay_update", **whole))
                alone = {"set_values": _list(map(_parameter, range(1, len(indices) + 1)))}
                found = {**parts, **some, **alone, "same": self._same(len(indices) + 1)}
                self._made(connection, f"{kind}_found", composed("write/replay_found", **found))

        for when, given in (("before", self._policy.before), ("after", self._policy.after)):
            for action, text in given.items():
                try:
                    self._made(connection, f"{when}_{action}", sql.Composed([sql.SQL(text)]))
                except psycopg.Error as error:
                    raise SluiceError(
                        162,
                        f"what {self.target.name} wants executed {when} {action} is refused there: {error}",
                        "fix it in the configuration, with schemas: names are not looked up; nothing is lost",
                    ) from error

    def _made(self, connection: Connection, kind: str, statement: sql.Composed) -> None:
        self._statements[kind] = prepare(connection, self._name + b"_" + kind.encode(), statement)

    def _same(self, first: int) -> sql.Composable:
        """The condition for the row of an old image, whose values are the parameters from number `first` on."""
        if self.target.key and not self.target.searched:
            return self._by_key(map(_parameter, count(first)))
        columns = {index: self.target.columns[index] for index in self._old}
        values = {
            index: sql.SQL("{}::{}").format(_parameter(number), sql.SQL(columns[index].type))
            for number, index in enumerate(columns, first)
        }
        parts = {
            "rows": self.target.parts["rows"],
            "own": _list(sql.Identifier("alike", column.name) for column in columns.values()),
            "image": _list(values.values()),
        }
        if not self.target.searched:
            return composed("write/replay_alike", **parts)
        found = (
            sql.SQL("({equal} OR {own} IS NULL AND {value} IS NULL)").format(
                equal=columns[index].equality.between(own, values[index]), own=own, value=values[index]
            )
            for index in self.target.searched
            for own in [sql.Identifier("alike", columns[index].name)]
        )
        return composed("write/replay_searched", **parts, searched=sql.SQL(" AND ").join(found))

    def _by_key(self, values: Iterable[sql.Composable], alias: str = "target") -> sql.Composable:
        """The condition for the rows with the key of these values."""
        columns = [self.target.columns[index] for index in self.target.key]
        return sql.SQL(" AND ").join(
            column.equality.between(sql.Identifier(alias, column.name), value)
            for column, value in zip(columns, values, strict=False)
        )


def replay(
    connection: Connection,
    prepared: PreparedStatements,
    changes: Iterable[RowChange],
    *,
    replace: bool,
    coded: bool,
    limit: StatementLimit,
) -> tuple[Tolerated, list[tuple[RowConflict, RowChange]]]:
    """Write changes of one table within the session's transaction.

    Args:
        coded: see `Pipeline`.
        limit: of all these changes together, as of a statement that writes them.

    Returns:
        which rows were not as expected; the changes that were rejected for it.

    Raises:
        TooSlow: SLC-688, they take too long.
    """
    begun, rows = time.monotonic(), 0
    with translated(f"writing to {prepared.target.name}"):
        with Pipeline(connection, coded=coded) as pipeline:
            for rows, change in enumerate(changes, 1):
                if limit.is_over(begun, rows):
                    break
                for statement in prepared.statements(change, replace=replace):
                    pipeline.send(statement)
            pipeline.sync()
        try:
            pipeline.expect_done()
        except psycopg.errors.CardinalityViolation as error:
            # Of our own statement, and not of a function that it set off.
            if prepared.target.searched and not error.diag.context:
                raise _ambiguous(prepared.target) from error
            raise
    if limit.is_over(begun, rows):
        raise too_slow(f"writing to {prepared.target.name}: {rows} rows one by one", limit.seconds(rows))
    return pipeline.tolerated, pipeline.rejected


def prepare(connection: Connection, name: bytes, statement: sql.Composed) -> Prepared:
    """Prepare a statement whose parameters are `$1`, `$2`, ...; their types follow from what they are used for."""
    prepared = Prepared(name, statement.as_bytes(connection))
    result = connection.pgconn.prepare(prepared.name, prepared.text)
    if result.status != psycopg.pq.ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(result)
    return prepared


def _ambiguous(target: StagedTable) -> SluiceError:
    columns = ", ".join(target.columns[index].name for index in target.searched)
    return SluiceError(
        120,
        f"several rows of {target.name} have the same {columns}, and none of them looks like the one that changed",
        "put them right there, or let `searchable` name columns that tell them apart; nothing is lost",
    )


def _at(image: Image, index: int) -> bytes | None:
    assert image is not None
    return image[index]


def _parameter(number: int) -> sql.SQL:
    return sql.SQL(f"${number}")


def _list(items: Iterable[sql.Composable]) -> sql.Composed:
    return sql.SQL(", ").join(items)
