"""Types of the configuration's fields: names, prefixes, actions and locations."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field

from sluice.model.watched import split_name

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,29}")
_DAG_PREFIX = re.compile(r"[A-Za-z0-9_]{0,60}", re.ASCII)
# user:password@, or an option that is one.
_KEY = re.compile(r"://[^@]*:[^@]*@|[?&][^=]*(secret|token|password|sig|sas|key)[^=]*=", re.IGNORECASE)


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant; empty if none is near."""
    return next(iter(difflib.get_close_matches(name, list(known), 1)), "")


def name_hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """The HINT of a name that is not known."""
    near = nearest(name, known)
    return f"{f'did you mean {near}?' if near else f'{otherwise};'} nothing was changed"


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(
            f"{value!r} is no name: lower-case letters, digits and _, starting with a letter, at most 40 long "
            "(it becomes part of DAG ids)"
        )
    return value


def _identifier(value: str) -> str:
    if not value or len(value.encode()) > 63 or "\0" in value:
        raise ValueError(f"{value!r} is no name of a schema or column: 1 to 63 bytes")
    return value


def _prefix(value: str) -> str:
    if not _PREFIX.fullmatch(value):
        raise ValueError(
            f"{value!r} is no prefix: letters, digits and _, starting with a letter, at most 30 long "
            "(so that PREFIX_ITEMS is an ordinary table name that folds as the database folds)"
        )
    return value


def _dag_prefix(value: str) -> str:
    if not _DAG_PREFIX.fullmatch(value):
        raise ValueError(f"{value!r} is no prefix of DAG ids: letters, digits and _, at most 60 long")
    return value


def _actions(value: str) -> str:
    if value == "none":
        return value
    letters = value.upper()
    if not letters or set(letters) - set("IUD") or len(set(letters)) != len(letters):
        raise ValueError(f"{value!r} is no set of actions: any of the letters I, U and D, each once, or none")
    return "".join(letter for letter in "IUD" if letter in letters)


def _alias(value: str) -> str:
    for part in split_name(value):
        _identifier(part or "-")
    return value


def has_secret(location: str) -> bool:
    """Whether a URL has a password or another secret in it."""
    return "://" in location and bool(_KEY.search(location))


def _location(value: str) -> str:
    if has_secret(value):
        raise ValueError(
            "a URL must not have a password or another secret, since it stands in logs, in the control store and in "
            "Airflow; the environment of the processes that open it may (include/docs/stores.md)"
        )
    return value


Identifier = Annotated[str, AfterValidator(_identifier)]
Name = Annotated[str, AfterValidator(_name)]
Prefix = Annotated[str, AfterValidator(_prefix)]
DagPrefix = Annotated[str, AfterValidator(_dag_prefix)]
TableAlias = Annotated[str, AfterValidator(_alias)]
Actions = Annotated[str, AfterValidator(_actions)]
# Airflow's auth managers write roles with capitals, or without.
RoleName = Annotated[str, AfterValidator(str.lower)]
Location = Annotated[str, AfterValidator(_location)]
# No database keeps a NUL in a text.
Label = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")]
