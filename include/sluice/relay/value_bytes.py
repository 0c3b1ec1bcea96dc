"""Values as clients of the relay get them: in the form of MySQL, whatever the source is."""

from __future__ import annotations

from sluice.model.logical_type import Kind, logical_type


def as_bytes(column_type: str, value: str | None) -> bytes:
    """A canonical text in the protocol: bytes are raw, and a moment is in UTC without a zone behind it."""
    if value is None:
        return b"NULL"
    match logical_type(column_type).kind:
        case Kind.BYTES:
            return bytes.fromhex(value.removeprefix("\\x"))
        case Kind.TIMESTAMP_WITH_ZONE:
            moment, _, era = value.partition("+00")
            return (moment + era).encode()
    return value.encode()
