"""Inputs that are nearly right, made by chance from right ones, and what the function makes of them that takes them.

Input `n` of an entrance is always the same one for the same seed. What a function may raise is told beforehand; all
else fails, as does an input that takes too much CPU time, and memory that grows as long as inputs come.
"""

from __future__ import annotations

import gc
import os
import re
import resource
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from sluice.errors import SluiceError

INPUTS_ENV, SEED_ENV = "SLUICE_FUZZ_INPUTS", "SLUICE_FUZZ_SEED"
# Seconds of CPU that no input needs: one that does hangs.
_LIMIT_S = 20
# So much may come to stay over half a run: caches, and what the allocator keeps.
_GROWTH_BYTES = 24 * 1024 * 1024
_MOST_SIGNS = 60_000
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NAME = re.compile(r"\{(\w+)\}")
_ODD = (
    *("", " ", "\n", "\t", "\0", "\r", "\ud800", "\ufeff", "\ufffe", "\u0130", "\U0001f600", "'", '"', "`", "\\", "$$"),
    *("(", ")", "[", "]", "{", "}", "<", ">", "--", "/*", "*/", "#", ";", ":", ",", ".", "..", "%", "_", "*", "&", "|"),
    *("0", "-1", "00", "9" * 19, "9" * 400, "1e9999", "1e-400", "0x1f", "1_000", "NaN", "Infinity", "1" + "0" * 5000),
    *(
        "null",
        "true",
        "~",
        "''",
        '""',
        "]]>",
        "&amp;",
        "&#0;",
        "<![CDATA[",
        "=",
        "!",
        "!!int ",
        "&a ",
        "*a",
        "<<",
        "\\u0000",
    ),
)
_PAIRS = ("()", "[]", "{}", "''", '""', "<>")


def examples(some: int, many: int) -> int:
    """How many examples a property is tried with: many with `./sluice test all`, which says how many inputs."""
    return many if INPUTS_ENV in os.environ else some


@dataclass(frozen=True)
class Entrance:
    """Where text of others enters.

    Attributes:
        made: an input.
        taken: what it is given to.
        refused: what that may raise.
    """

    name: str
    made: Callable[[Random], Any]
    taken: Callable[[Any], object]
    refused: tuple[type[Exception], ...] = (SluiceError,)


class Hanging(BaseException):
    """An input took too much CPU time; no code catches it as an error."""


def inputs() -> int:
    """How many inputs each entrance is given."""
    return int(os.environ.get(INPUTS_ENV, "300"))


def failures(entrance: Entrance, count: int) -> Iterator[str]:
    """What is wrong, each kind of failure once, with an input that shows it."""
    seed = os.environ.get(SEED_ENV, "0")
    marks = [count // 10, count * 11 // 20, count]
    sizes: list[int] = []
    known: set[str] = set()
    with watched():
        for number in range(count):
            if number in marks:
                sizes.append(_resident())
            given = entrance.made(Random(f"{seed} {entrance.name} {number}"))
            if (found := failure(entrance, given)) and found[0] not in known:
                known.add(found[0])
                yield f"{entrance.name}, seed {seed}, input {number}: {given!r}\n{found[1]}"
    sizes.append(_resident())
    if len(sizes) == len(marks) and sizes[2] - sizes[1] > max(_GROWTH_BYTES, (sizes[1] - sizes[0]) // 2):
        yield f"{entrance.name}, seed {seed}: memory grows, {sizes} bytes after {marks} inputs"


def failure(entrance: Entrance, given: Any) -> tuple[str, str] | None:
    """Where it fails, and the whole traceback; None if it is taken, or refused."""
    _limit(_LIMIT_S)
    try:
        entrance.taken(given)
    except entrance.refused:
        return None
    except (Exception, Hanging) as error:
        ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "include/sluice" in frame.filename]
        place = f"{ours[-1].filename}:{ours[-1].lineno}" if ours else ""
        return f"{type(error).__name__} {place}", "".join(traceback.format_exception(error)[-12:])
    finally:
        _limit(0)
    return None


def _limit(seconds: float) -> None:
    """The first alarm raises `Hanging`. Code that lets nothing of Python run does not see it: the second one kills."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_VIRTUAL, 3 * seconds)


@contextmanager
def watched() -> Iterator[None]:
    """Too much CPU time is an error, and so is too much memory; neither takes the machine along."""

    def end(*_: object) -> None:
        raise Hanging(f"more than {_LIMIT_S} s of CPU time")

    before = signal.signal(signal.SIGPROF, end)
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_pages(5) + 4 * 1024**3, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, limits)
        signal.signal(signal.SIGPROF, before)


def _resident() -> int:
    gc.collect()
    return _pages(1)


def _pages(place: int) -> int:
    """Bytes of this process: 1 is what is in memory, 5 is all that it may write to."""
    return int(Path("/proc/self/statm").read_text().split()[place]) * resource.getpagesize()


def texts(samples: tuple[str, ...], words: tuple[str, ...] = ()) -> Callable[[Random], str]:
    """Makes texts like these samples, out of their tokens and these words."""
    pool = sorted({token for text in samples for token in _TOKEN.findall(text)} | set(words))

    def made(rng: Random) -> str:
        tokens = _TOKEN.findall(rng.choice(samples))
        for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
            tokens = _changed(rng, tokens, pool)
        return "".join(tokens)[:_MOST_SIGNS]

    return made


def sentences(rules: Mapping[str, tuple[str, ...]], start: str) -> Callable[[Random], str]:
    """Makes texts by a grammar, every other of them changed as `texts` changes its samples.

    Args:
        rules: what may stand for a name in braces; the first has no names in it, and ends what would become too deep.
    """
    pool = sorted({token for rule in rules.values() for text in rule for token in _TOKEN.findall(text)})

    def grown(rng: Random, name: str, levels: int) -> str:
        text = rng.choice(rules[name]) if levels else rules[name][0]
        return _NAME.sub(lambda found: grown(rng, found[1], levels - 1), text)

    def made(rng: Random) -> str:
        text = grown(rng, start, rng.choice((2, 3, 4, 5)))
        return text if rng.random() < 0.5 else "".join(_changed(rng, _TOKEN.findall(text), pool))[:_MOST_SIGNS]

    return made


def _changed(rng: Random, tokens: list[str], pool: list[str]) -> list[str]:
    begin = rng.randrange(len(tokens) + 1)
    end = min(len(tokens), begin + rng.choice((0, 1, 1, 1, 2, 3, 8, 20)))
    before, run, after = tokens[:begin], tokens[begin:end], tokens[end:]
    kind = rng.randrange(10)
    if kind == 0:
        return before + after
    if kind == 1:
        return before + run * _many(rng) + after
    if kind == 2:
        pair, levels = rng.choice(_PAIRS), _many(rng)
        return [*before, pair[0] * levels, *run, pair[1] * levels, *after]
    if kind == 3:
        other = rng.randrange(len(after) + 1)
        return before + after[:other] + run + after[other:]
    if kind == 4:
        return [*before, rng.choice(_ODD), *run, *after]
    if kind == 5:
        return [*before, rng.choice(pool) * _many(rng), *after]
    # What stands instead of a word is most often a word, and instead of a sign a sign.
    alike = [one for one in pool if run and one[:1].isalnum() == run[0][:1].isalnum()] if kind < 9 else pool
    return [*before, rng.choice(alike or pool), *run[1:], *after]


def _many(rng: Random) -> int:
    """Mostly few, seldom as many as only a fault, or ill will, makes them."""
    return rng.choice((2, 2, 3, 4, 9)) if rng.random() < 0.98 else rng.choice((60, 300, 3000))


def values(samples: tuple[Any, ...]) -> Callable[[Random], Any]:
    """Makes values like these of mappings, lists and scalars; samples are left as they are."""
    pool = [part for one in samples for part in _all(one)]

    def made(rng: Random) -> Any:
        value = rng.choice(samples)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            value = _altered(rng, value, pool)
        return value

    return made


def _all(value: Any) -> Iterator[Any]:
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _all(part)


def _altered(rng: Random, value: Any, pool: list[Any]) -> Any:
    """The value with one part of it changed, at whichever depth."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        kind = rng.randrange(12)
        if kind == 0:
            return {name: part for name, part in value.items() if name != key}
        if kind == 1:
            return {**value, rng.choice([one for one in pool if isinstance(one, str)]): value[key]}
        return {**value, key: _altered(rng, value[key], pool)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        kind = rng.randrange(8)
        if kind == 0:
            return value[:place] + value[place + 1 :]
        if kind == 1:
            return value[:place] + [value[place]] * _many(rng) + value[place:]
        return [*value[:place], _altered(rng, value[place], pool), *value[place + 1 :]]
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice((None, True, False, 0, -1, 1 << 70, 1.5, float("inf"), "", [], {}, [[]], {"": None}))
    if kind == 1:
        return [value] if rng.random() < 0.5 else {"name": value}
    if kind == 2 and isinstance(value, int):
        return value + rng.choice((-1, 1, 1 << 31, 1 << 63, -(1 << 40)))
    if kind <= 4 and isinstance(value, str):
        return "".join(_changed(rng, _TOKEN.findall(value), [value, *_ODD]))[:_MOST_SIGNS]
    return rng.choice(pool)


def octets(rng: Random, raw: bytes) -> bytes:
    """The bytes with some of them others, missing, or there twice."""
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        # What tells of all the rest is most often at one end.
        place = rng.choice((rng.randrange(len(raw) + 1), max(0, len(raw) - rng.randrange(1, 300)), rng.randrange(20)))
        size = rng.choice((1, 1, 1, 2, 4, 8, 64))
        kind = rng.randrange(4)
        run = raw[place : place + size]
        if kind == 0:
            run = bytes(rng.randrange(256) for _ in run)
        elif kind == 1:
            run = b""
        elif kind == 2:
            run = run * _many(rng)
        else:
            run = bytes(one ^ 1 << rng.randrange(8) for one in run)
        raw = raw[:place] + run + raw[place + size :]
    return raw[: 1 << 20]
