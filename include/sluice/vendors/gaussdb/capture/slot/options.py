"""The options of decoding together: refused before anything is opened, and rendered for the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sluice import sqlfiles
from sluice.errors import ConfigError
from sluice.vendors.gaussdb.capture.slot.lsn import written
from sluice.vendors.gaussdb.capture.slot.option_kinds import OPTIONS, Value, Way

# Of `max_process_memory`, which is in KB, parallel decoding may use these parts; what is given is in MB or in GB.
_LIMITS = {"max-txn-in-memory": (4, 1024), "max-reorderbuffer-in-memory": (2, 1024 * 1024)}
_MOST_SERIAL = 100
_SLOT = re.compile("[a-z0-9_]{1,63}")


@dataclass(frozen=True)
class DecodingOptions:
    """Options of `mppdb_decoding` that fit each other; what is not given is left to the server."""

    given: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, object]) -> DecodingOptions:
        """Those that a person wrote.

        Raises:
            ConfigError: SLC-438, one is unknown or out of its range; two of them exclude each other.
        """
        made = cls(tuple((name, _taken(name, value)) for name, value in given.items()))
        made._expect_no_excluded()
        made._expect_memory(None)
        return made

    def value(self, name: str) -> Value | None:
        """The value that decoding has; None if the server decides."""
        return dict(self.given).get(name, OPTIONS[name].default)

    @property
    def is_parallel(self) -> bool:
        """Whether several threads of the server decode."""
        return self.value("parallel-decode-num") != 1

    @property
    def format(self) -> str:
        """The format of what the server sends over the protocol; serial decoding sends no other than this one."""
        return str(self.value("decode-style")) if self.is_parallel else "j"

    @property
    def is_batched(self) -> bool:
        """Whether a message has several statements."""
        return self.is_parallel and self.value("sending-batch") == 1

    def expect_memory(self, max_process_memory_kb: int) -> None:
        """Check what depends on the server's memory. Raises ConfigError SLC-438."""
        self._expect_memory(max_process_memory_kb)

    def arguments(self) -> list[str]:
        """Names and values in turn, each to be bound as a parameter of a SQL function.

        Raises:
            ConfigError: SLC-438, one of them belongs to the protocol.
        """
        for name, _ in self.given:
            if OPTIONS[name].way is Way.STREAM:
                raise excluded(name, "reading by SQL functions, which have no such option")
        return [part for name, value in self._sent() for part in (name, _text(value))]

    @property
    def by_functions(self) -> DecodingOptions:
        """Those that SQL functions know, too."""
        return DecodingOptions(tuple(one for one in self.given if OPTIONS[one[0]].way is Way.EVERYWHERE))

    def start_replication(self, slot: str, lsn: int) -> str:
        """The command that starts the stream of a slot at an LSN; 0 is where it stands. The protocol binds nothing, so
        all that fills it is quoted.
        """
        pairs = ", ".join(f"{_identifier(name)} {_literal(_text(value))}" for name, value in self._sent())
        command = sqlfiles.statement("gaussdb", "capture/slot/start_replication").strip()
        return command.format(
            slot=_identifier(slot_name(slot)), lsn=written(lsn), options=f" ({pairs})" if pairs else ""
        )

    def _sent(self) -> list[tuple[str, Value]]:
        return [(name, value) for name, value in self.given if OPTIONS[name].way is not Way.CLIENT]

    def _expect_no_excluded(self) -> None:
        names = dict(self.given)
        if not self.is_parallel:
            for name in names:
                if OPTIONS[name].parallel:
                    raise excluded(name, "parallel-decode-num 1, which is serial decoding")
        timeout = self.value("sender-timeout")
        # Zero is no limit. One status a limit is too few: one that is late would end the stream.
        if isinstance(timeout, int) and 0 < timeout <= int(str(self.value("status-interval"))):
            raise excluded("status-interval", f"a sender-timeout of {timeout} ms, which is not longer")

    def _expect_memory(self, max_process_memory_kb: int | None) -> None:
        for name, (part, unit) in _LIMITS.items():
            value = dict(self.given).get(name)
            if not self.is_parallel:
                most: int | None = _MOST_SERIAL
            else:
                most = None if max_process_memory_kb is None else max_process_memory_kb // part // unit
            if isinstance(value, int) and most is not None and value > most:
                raise _refused(name, value, f"an integer from 0 to {most}")


def slot_name(given: str) -> str:
    """The name of a slot as the server keeps it, which is in lower case.

    Raises:
        ConfigError: SLC-041, the server takes no such name.
    """
    name = given.lower()
    if not _SLOT.fullmatch(name):
        raise ConfigError(
            41,
            f"{given!r} is no name of a replication slot",
            "choose one of letters without accents, digits and underscores, 63 at most",
        )
    return name


def _taken(name: str, given: object) -> Value:
    option = OPTIONS.get(name)
    if option is None:
        raise _refused(name, given, f"the name of an option: one of {', '.join(OPTIONS)}")
    try:
        return option.taken(given)
    except ValueError as error:
        raise _refused(name, given, str(error)) from None


def _refused(name: str, given: object, right: str) -> ConfigError:
    fact = f"the option {name!r} of logical decoding cannot be {given!r}: right is {right}"
    return ConfigError(438, fact, "change the option in the configuration, or remove it to leave it to the server")


def excluded(name: str, by: str) -> ConfigError:
    """The error for an option that cannot be given together with something else."""
    return ConfigError(
        438,
        f"the option {name!r} of logical decoding excludes {by}",
        "change or remove one of the two in the configuration",
    )


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
