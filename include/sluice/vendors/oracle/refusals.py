"""Features of Sluice that a source on Oracle has not, refused by name before anything is written."""

from __future__ import annotations

from sluice.errors import ConfigError, SluiceError


def expect_triggers(capture: str) -> None:
    """See how a source is to be captured. Raises ConfigError SLC-438."""
    if capture != "triggers":
        raise ConfigError(
            438,
            f"an Oracle master cannot be captured by {capture}: LogMiner needs supplemental logging and rights on the "
            "whole server, and does not give every type back",
            "nothing was changed; set `capture: triggers` for the source, or take `capture` out",
        )


def expect_no_loop(drained_into: bool) -> None:
    """See that no drain with `block_loop` writes into the source. Raises ConfigError SLC-438."""
    if drained_into:
        raise ConfigError(
            438,
            "a drain with `block_loop` writes into the database of this source, and its triggers do not tell whose "
            "changes are whose",
            "nothing was changed; take `block_loop` out of that replication",
        )


def no_ranges() -> SluiceError:
    """A load by ranges of keys that somebody names."""
    return SluiceError(
        99,
        "tables of a source on Oracle are not loaded by ranges of keys",
        "nothing was changed; run initial_update in the mode `snapshot` or `online`, without `key_ranges`",
    )


def no_activity() -> SluiceError:
    """The user may not see which sessions of others are active."""
    return SluiceError(
        236,
        "the user of the source does not see whether sessions of others are active, which `max_active` asks for",
        "let a DBA type GRANT SELECT ON sys.v_$session TO the user; or take `max_active` out of the configuration",
    )
