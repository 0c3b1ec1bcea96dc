"""Key files: a secret that others may read is none, and is not used."""

from __future__ import annotations

import os

import pytest

from sluice.errors import ConfigError
from sluice.storage.keys import secret

KEY = b"a secret"


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "a key"
    made.write_bytes(KEY)
    return made


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_what_its_owner_alone_may_read_is_read(file, mode):
    file.chmod(mode)
    assert secret(str(file)) == KEY


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o604, 0o602, 0o644, 0o666, 0o777])
def test_what_others_may_read_or_write_is_refused_with_what_to_type(file, mode):
    file.chmod(mode)
    with pytest.raises(ConfigError, match=rf"SLC-243: others may read {file}, .* mode 0{mode:o}") as caught:
        secret(str(file))
    assert caught.value.hint.startswith(f"chmod 600 '{file}'")


def test_what_somebody_else_owns_is_theirs_to_protect(file, monkeypatch):
    """As a secret that is mounted into a container, which its process may read by its group alone."""
    file.chmod(0o640)
    ours = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: ours + 1)
    assert secret(str(file)) == KEY


def test_a_link_is_as_good_as_what_it_leads_to(file, tmp_path):
    file.chmod(0o644)
    link = tmp_path / "link"
    link.symlink_to(file)
    with pytest.raises(ConfigError, match="SLC-243"):
        secret(str(link))
