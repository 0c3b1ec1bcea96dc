"""The people in Airflow whose roles a job checks; its task passes them in the environment."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass

REQUESTERS_ENV = "SLUICE_REQUESTERS"


@dataclass(frozen=True)
class Requester:
    """A person, with the roles that Airflow's auth manager gives them.

    Attributes:
        answered: the task that asked, if they answered its question; else they triggered the run.
    """

    user: str
    roles: Sequence[str]
    answered: str = ""


def to_text(requesters: Sequence[Requester]) -> str:
    """The value of the environment variable of a job, as JSON."""
    return json.dumps([asdict(requester) for requester in requesters])


def from_environment() -> list[Requester]:
    """The requesters that the task handed over; empty if the job is no command, or no person triggered it."""
    return [Requester(**requester) for requester in json.loads(os.environ.get(REQUESTERS_ENV) or "[]")]
