"""Our errors on their way from a Spark task to the driver.

They travel as data: an exception would arrive as one of PySpark's, without code and HINT, and without its class.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from sluice import errors, library_errors
from sluice.errors import SluiceError, TransientError

_KINDS = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, SluiceError)}


def as_text(error: SluiceError) -> str:
    """The text that a task returns instead of its result."""
    # Some have more to say, which only their own process needs; what they are a kind of decides about a retry.
    name = next(kind.__name__ for kind in type(error).__mro__ if kind in _KINDS.values())
    return json.dumps([name, error.code, error.fact, error.hint])


def failure(error: Exception) -> str:
    """The text for any error. Raises the error itself if nothing foresees it."""
    known = library_errors.classify(error)
    if known is None:
        raise error
    return as_text(known)


def raise_any(texts: Iterable[str]) -> None:
    """Raise one of the errors that tasks returned, if there are any; a terminal one rather than a transient one."""
    raised = [from_text(text) for text in texts]
    if raised:
        raise min(raised, key=lambda error: isinstance(error, TransientError))


def from_text(text: str) -> SluiceError:
    """The error that a task returned."""
    kind, code, fact, hint = json.loads(text)
    return _KINDS[kind](code, fact, hint)
