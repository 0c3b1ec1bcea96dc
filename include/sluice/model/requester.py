"""Who triggered a run in Airflow, as its task hands it to the job."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass

REQUESTER_ENV = "SLUICE_REQUESTER"


@dataclass(frozen=True)
class Requester:
    """A person, with the roles that Airflow's auth manager gives them."""

    user: str
    roles: Sequence[str]

    def to_text(self) -> str:
        """For the environment of a job."""
        return json.dumps(asdict(self))

    @classmethod
    def of_environment(cls) -> Requester | None:
        """None if the job is no command, or no person triggered it."""
        text = os.environ.get(REQUESTER_ENV)
        return cls(**json.loads(text)) if text else None
