"""Numbers of floats as the log has them."""

from __future__ import annotations


def float_text(text: str, bits: int) -> str:
    """A number as the log has it: the shortest text, with an exponent where PostgreSQL prints one."""
    sign = "-" if text.startswith("-") else ""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    before, _, behind = mantissa.partition(".")
    digits = (before + behind).lstrip("0")
    if not digits:
        return f"{sign}0"
    # The place of the point counts from the first digit that is not 0.
    power = int(exponent or 0) + len(before) - (len(before + behind) - len(digits)) - 1
    digits = digits.rstrip("0")
    if not -4 <= power < (15 if bits == 64 else 6):
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    rest = digits[power + 1 :]
    return f"{sign}{whole}{rest and '.' + rest}"
