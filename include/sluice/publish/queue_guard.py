"""Checks that ITEMS holds only what Sluice wrote. A role that may write there could send anything to every slave.

Foreign entries are refused before they are published: in the log they would stop every slave, or all slaves would
execute them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sluice.changelog.schema import are_commands, have_actions
from sluice.errors import SluiceError
from sluice.model.action import COMMANDS, Action
from sluice.model.statement import UNPLACED, IssuedStatement, Statement
from sluice.model.table_definition import TableChange
from sluice.vendors.protocol.sweep import Sweep

_UPDATES_AND_DELETES = {Action.UPDATE, Action.DELETE}
_WITH_NEW = COMMANDS | {Action.INSERT, Action.UPDATE}


@dataclass(frozen=True)
class QueueGuard:
    """Knows what may be in the queue of one source.

    Attributes:
        issued: what is known of a statement of that number, if it was issued.
        placed: records the number of the transaction of a statement, which had a token until now.
    """

    issued: Callable[[int], IssuedStatement | None]
    placed: Callable[[int, str, str], None]

    def expect(self, batch: pa.RecordBatch, sweep: Sweep) -> None:
        """Look at a batch of a sweep, columns as in `SWEPT`. Raises SluiceError SLC-068 if a change is not genuine."""
        action = batch.column("action")
        # An update of a row whose key tells it apart may do without.
        keyed = pa.array(
            sorted(number for number, layout in sweep.layouts().items() if layout.tells_by_key), pa.int64()
        )
        may_lack = pc.and_(pc.equal(action, Action.UPDATE), _is_in(batch.column("layout"), keyed))
        with_old = pc.and_not(have_actions(action, _UPDATES_AND_DELETES), may_lack)
        faults = {
            "its action is none of ours": pc.invert(have_actions(action, set(Action))),
            "it has no content": pc.and_(have_actions(action, _WITH_NEW), batch.column("new").is_null()),
            "it has no old content": pc.and_(with_old, batch.column("old").is_null()),
        }
        for why, wrong in faults.items():
            if (index := pc.index(wrong, True).as_py()) >= 0:
                raise _strange(batch, index, why, sweep)
        for index in pc.indices_nonzero(are_commands(action)).to_pylist():
            if why := self._command(batch, index):
                raise _strange(batch, index, why, sweep)

    def _command(self, batch: pa.RecordBatch, index: int) -> str:
        (text,) = batch.column("new")[index].as_py()
        try:
            if batch.column("action")[index].as_py() != Action.STATEMENT:
                TableChange.from_json(text)
                return ""
            sent = Statement.from_json(text)
        except ValueError as error:
            return str(error)
        trans_key, known = batch.column("trans_key")[index].as_py(), self.issued(sent.id)
        if known == IssuedStatement(trans_key, sent.sql, sent.schema):
            return ""
        if sent.token.startswith(UNPLACED) and known == IssuedStatement(sent.token, sent.sql, sent.schema):
            self.placed(sent.id, sent.token, trans_key)
            return ""
        return f"nobody issued it as statement {sent.id}"


def _strange(batch: pa.RecordBatch, index: int, why: str, sweep: Sweep) -> SluiceError:
    key, action = (batch.column(name)[index].as_py() for name in ("repl_key", "action"))
    return SluiceError(
        68,
        f"the change {key} of ITEMS, action {action}, is not one that Sluice wrote: {why}",
        "nothing of its transaction was published, and nothing is lost; on the source: "
        f"`{sweep.deletion('repl_key', key)}`; then the next run goes on. Find out who may write to that table",
    )


def _is_in(column: pa.Array, values: pa.Array) -> pa.BooleanArray:
    return pc.is_in(column, value_set=values)
