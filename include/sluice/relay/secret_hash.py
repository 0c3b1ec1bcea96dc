"""The hash by which a client shows that it knows the shared secret: FNV-1a of 64 bits, in the two forms in use."""

from __future__ import annotations

from functools import reduce

_BASIS, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF


def fnv1a(text: bytes) -> int:
    """The standard hash."""
    return reduce(lambda value, byte: (value ^ byte) * _PRIME & _MASK, text, _BASIS)


def auth_keys(secret: str) -> tuple[int, ...]:
    """The keys of a secret: the standard hash, and that of clients that hash a zero byte and all but the last byte."""
    text = secret.encode()
    return fnv1a(text), fnv1a(b"\0" + text[:-1])
