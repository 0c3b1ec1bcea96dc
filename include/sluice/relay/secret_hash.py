"""The hash by which a client shows that it knows the shared secret: FNV-1a of 64 bits, in the forms in use."""

from __future__ import annotations

from functools import reduce

_BASIS, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF


def fnv1a(text: bytes) -> int:
    """The standard hash."""
    return reduce(lambda value, byte: (value ^ byte) * _PRIME & _MASK, text, _BASIS)


def auth_keys(secret: str) -> tuple[int, ...]:
    """The keys of a secret: the standard hash, and the hash of clients that take a zero byte and all but the last byte.

    Each also without its highest bit: PHP loses that when it makes an integer of a larger number.
    """
    text = secret.encode()
    whole = fnv1a(text), fnv1a(b"\0" + text[:-1])
    return (*whole, *(key & _MASK >> 1 for key in whole))
