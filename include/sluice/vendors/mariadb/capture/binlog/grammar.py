"""A step through the words of a statement: what has to be there is there, or it is not understood."""

from __future__ import annotations

from sluice.model.names import TableName
from sluice.vendors.mariadb.capture.binlog.statements import NotUnderstood, Token

# Words that no name can be without quotes, and that stand where a name could be.
_RESERVED = ("IF", "NOT", "EXISTS", "TABLE", "IGNORE", "OR", "TO", "AS", "SELECT", "LIKE", "DATABASE", "FROM")
_NOTHING = Token("")


class Parser:
    """The words from a place on.

    Args:
        schema: the database of names without one.
        folds: whether names of databases and tables are meant in lower case.
    """

    def __init__(self, schema: str, tokens: list[Token], at: int, *, folds: bool = False) -> None:
        self._schema = schema
        self._folds = folds
        self._tokens = tokens
        self._at = at

    @property
    def rest(self) -> list[Token]:
        """What is left."""
        return self._tokens[self._at :]

    def at(self, place: int) -> Parser:
        """Another one, at a place of the rest."""
        return Parser(self._schema, self._tokens, self._at + place, folds=self._folds)

    def peeks(self, *words: str) -> bool:
        """Whether one of these words is next."""
        return self._next.is_word(*words)

    def takes(self, *words: str) -> bool:
        """Step over one of these words, if it is next."""
        found = self.peeks(*words)
        self._at += found
        return found

    def peeks_sign(self, sign: str) -> bool:
        """Whether this sign is next."""
        return self._at < len(self._tokens) and self._next.is_sign(sign)

    def takes_sign(self, sign: str) -> bool:
        """Step over this sign, if it is next."""
        found = self._at < len(self._tokens) and self._next.is_sign(sign)
        self._at += found
        return found

    def step(self) -> Token:
        """Step over what is next. Raises NotUnderstood, nothing is left."""
        found = self._next
        found.expect_read()
        if self._at >= len(self._tokens):
            raise NotUnderstood("it ends too early")
        self._at += 1
        return found

    def expect(self, *words: str) -> None:
        """Step over one of these words. Raises NotUnderstood, it is not there."""
        if not self.takes(*words):
            raise NotUnderstood(f"{' or '.join(words)} is expected where {self._next.text!r} is")

    def ends(self) -> None:
        """See that nothing is left. Raises NotUnderstood."""
        if self._at < len(self._tokens):
            raise NotUnderstood(f"an end is expected where {self._next.text!r} is")

    def if_exists(self) -> None:
        """Step over IF EXISTS or IF NOT EXISTS."""
        if self.takes("IF"):
            self.takes("NOT")
            self.expect("EXISTS")

    def waits(self) -> None:
        """Step over how long is waited for a lock."""
        if self.takes("WAIT"):
            self._at += 1
        else:
            self.takes("NOWAIT")

    def word(self) -> str:
        """A name of one part. Raises NotUnderstood."""
        found = self._next
        found.expect_read()
        if not found.is_name or found.is_word(*_RESERVED) or (not found.is_quoted and found.text[:1].isdigit()):
            raise NotUnderstood(f"a name is expected where {found.text!r} is")
        self._at += 1
        return found.text

    def name(self) -> TableName:
        """The name of a table. Raises NotUnderstood."""
        if self.takes_sign("."):
            return TableName(self._schema, self.plain())
        first = self.plain()
        return TableName(first, self.plain()) if self.takes_sign(".") else TableName(self._schema, first)

    def plain(self) -> str:
        """The name of a database, or of a table without its database. Raises NotUnderstood."""
        word = self.word()
        return word.lower() if self._folds else word

    @property
    def _next(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _NOTHING
