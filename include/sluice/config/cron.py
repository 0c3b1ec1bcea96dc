"""Times of a cron table: five fields, as the scheduler has them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

# Of each field the least and the largest number; days of the week begin and end with Sunday.
_FIELDS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "day of the week": (0, 7)}
_ITEM = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/[1-9]\d?)?", re.ASCII)


def _cron(text: str) -> str:
    fields = text.split(" ")
    if len(fields) != len(_FIELDS):
        raise ValueError(f"{text!r} has not the five fields {', '.join(_FIELDS)}; an example is `0 2 * * 0`")
    for field, (name, (least, largest)) in zip(fields, _FIELDS.items(), strict=True):
        for item in field.split(","):
            match = _ITEM.fullmatch(item)
            numbers = [int(number) for number in match.groups() if number] if match else [-1]
            if numbers != sorted(numbers) or not all(least <= number <= largest for number in numbers):
                raise ValueError(f"{item!r} of {text!r} is no {name}: {least} to {largest}, a range upwards, or *")
    return text


Cron = Annotated[str, AfterValidator(_cron)]
