"""Dates and times as the database prints them in the pinned settings (ISO, UTC), as numbers that keep their order.

A date is the number of days since 2000-01-01, a timestamp the number of microseconds, in the proleptic Gregorian
calendar; the infinities are the ends of what fits 64 bits.
"""

from __future__ import annotations

import re

from sluice.expressions.numbers import Failure

SECOND = 1_000_000
DAY = 86_400 * SECOND
# 2000-01-01, in days since 1970-01-01.
EPOCH_DAY = 10_957
INFINITE = {"infinity": (1 << 63) - 1, "-infinity": -(1 << 63)}
_NAMES = {number: name for name, number in INFINITE.items()}
# 4714-11-24 BC, the first day of all; and the first days that are none any more.
_FIRST, _END_OF_DATES, _END_OF_TIMES = -2_451_545, 2_145_031_949, 106_751_983

_DATE = r"(?P<year>\d{4,7})-(?P<month>\d\d)-(?P<day>\d\d)"
_TIME = r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,6}))?)?"
_ZONE = r"(?P<sign>[+-])(?P<off_hour>\d\d)(?::?(?P<off_minute>\d\d))?"
_MOMENT = re.compile(rf"{_DATE}(?:[ T]{_TIME}(?:{_ZONE})?)?(?P<bc> BC)?", re.ASCII)


def date(text: str) -> int:
    """Days. Raises Failure if it is no date in the form of ISO 8601."""
    if text in INFINITE:
        return INFINITE[text]
    parts = _parts(text, "date")
    if parts["hour"]:
        raise Failure("a text is no date in the form 2013-01-31")
    return _within(_day(parts), _END_OF_DATES)


def timestamp(text: str) -> int:
    """Microseconds. Raises Failure if it is no timestamp without a zone in the form of ISO 8601."""
    return _moment(text, zoned=False)


def timestamptz(text: str) -> int:
    """Microseconds in UTC; so is a text without an offset. Raises Failure if it is none in the form of ISO 8601."""
    return _moment(text, zoned=True)


def _moment(text: str, *, zoned: bool) -> int:
    if text in INFINITE:
        return INFINITE[text]
    parts = _parts(text, "timestamp")
    if parts["sign"] and not zoned:
        raise Failure("a timestamp without time zone has an offset")
    hour, minute, second = (int(parts[part] or 0) for part in ("hour", "minute", "second"))
    off_hour, off_minute = int(parts["off_hour"] or 0), int(parts["off_minute"] or 0)
    if hour > 23 or minute > 59 or second > 59 or off_hour > 15 or off_minute > 59:
        raise Failure("a text is no time of a day")
    offset = (off_hour * 60 + off_minute) * 60 * (-1 if parts["sign"] == "-" else 1)
    seconds = hour * 3600 + minute * 60 + second - offset
    number = _day(parts) * DAY + seconds * SECOND + int((parts["fraction"] or "").ljust(6, "0"))
    _within(number // DAY, _END_OF_TIMES)
    return number


def _parts(text: str, what: str) -> dict[str, str | None]:
    match = _MOMENT.fullmatch(text)
    if not match:
        raise Failure(f"a text is no {what} in the form 2013-01-31{' 12:59:59' * (what != 'date')}")
    return match.groupdict()


def _day(parts: dict[str, str | None]) -> int:
    year, month, day = (int(parts[part] or 0) for part in ("year", "month", "day"))
    days = to_days(1 - year if parts["bc"] else year, month, day)
    if not year or not 1 <= month <= 12 or civil(days)[1:] != (month, day):
        raise Failure("a text is no day of the calendar")
    return days


def _within(day: int, end: int) -> int:
    if not _FIRST <= day < end:
        raise Failure("a date or timestamp is out of range")
    return day


def from_days(days: int) -> int:
    """A date as the timestamp of its midnight. Raises Failure if there is none."""
    return days if days in _NAMES else _within(days, _END_OF_TIMES) * DAY


def to_day(moment: int) -> int:
    """The date of a timestamp."""
    return moment if moment in _NAMES else moment // DAY


def to_days(year: int, month: int, day: int) -> int:
    """Days since 2000-01-01 of a day of the calendar; the year before 1 is 0.

    Source: the usual count of days in eras of 400 years that begin on a first of March.
    """
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 730_425


def civil(days: int) -> tuple[int, int, int]:
    """The year, month and day of a number of days since 2000-01-01."""
    era, day_of_era = divmod(days + 730_425, 146_097)
    year = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def print_date(days: int) -> str:
    if days in _NAMES:
        return _NAMES[days]
    text, era = _calendar(days)
    return text + era


def print_timestamp(moment: int) -> str:
    return _print(moment, "")


def print_timestamptz(moment: int) -> str:
    return _print(moment, "+00")


def _print(moment: int, zone: str) -> str:
    if moment in _NAMES:
        return _NAMES[moment]
    days, rest = divmod(moment, DAY)
    seconds, fraction = divmod(rest, SECOND)
    text, era = _calendar(days)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    parts = f".{fraction:06}".rstrip("0") if fraction else ""
    return f"{text} {clock}{parts}{zone}{era}"


def _calendar(days: int) -> tuple[str, str]:
    year, month, day = civil(days)
    return f"{year if year > 0 else 1 - year:04}-{month:02}-{day:02}", "" if year > 0 else " BC"
