"""What tests of the configuration and of what is made of it share."""

from __future__ import annotations

import pytest

from sluice.config import configuration
from sluice.config.configuration import Config


@pytest.fixture
def read(tmp_path):
    """Reads a text as the configuration file."""

    def read(text: str) -> Config:
        file = tmp_path / "replication.yaml"
        file.write_text(text)
        return configuration.load(file)

    return read
