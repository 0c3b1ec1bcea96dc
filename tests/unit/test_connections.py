"""Sealed connections: what is handed to jobs opens with the deployment's key file alone, and never shows a password."""

from __future__ import annotations

import os

import psycopg
import pytest

from sluice import connections, libpq
from sluice.connections import (
    KEY_FILE_ENV,
    SEALED_ENV,
    ConnectionInfo,
    new_key_file,
    open_sealed,
    process_connections,
    seal,
)
from sluice.errors import ConfigError

CANARY = "canary-0a1b-password"
INFO = ConnectionInfo("postgres", "db", 5432, "d", "u", CANARY, {"sslmode": "require", "token": CANARY})


@pytest.fixture
def key_file(tmp_path, monkeypatch):
    path = tmp_path / "seal.key"
    new_key_file(path)
    monkeypatch.setenv(KEY_FILE_ENV, str(path))
    return path


@pytest.mark.usefixtures("key_file")
def test_what_was_sealed_opens_unchanged_and_shows_nothing():
    text = seal({"master": INFO, "zurich": ConnectionInfo("postgres")})
    assert CANARY not in text
    assert open_sealed(text) == {"master": INFO, "zurich": ConnectionInfo("postgres")}


def test_variables_are_back_in_the_environment_when_the_last_of_several_connections_is_open(monkeypatch):
    for name in ("PGTZ", "PGHOSTADDR", "PGSSLMODE"):
        monkeypatch.setenv(name, "of others")
    before, hidden = dict(os.environ), libpq.HiddenVariables()
    first, second = hidden.hide({"PGTZ"}), hidden.hide({"PGTZ", "PGHOSTADDR"})
    first.__enter__()
    second.__enter__()
    assert before.keys() - os.environ.keys() == {"PGTZ", "PGHOSTADDR"}
    first.__exit__(None, None, None)
    assert before.keys() - os.environ.keys() == {"PGTZ", "PGHOSTADDR"}
    second.__exit__(None, None, None)
    assert os.environ == before


def test_a_connection_never_prints_its_password():
    assert CANARY not in repr(INFO)
    assert CANARY not in str({"master": INFO})


def test_the_key_file_is_readable_by_its_owner_alone(key_file):
    assert key_file.stat().st_mode & 0o777 == 0o600


def test_a_job_opens_what_its_environment_holds(key_file, monkeypatch):
    monkeypatch.setenv(SEALED_ENV, seal({"master": INFO}))
    assert process_connections() == {"master": INFO}
    assert key_file.exists()


def test_another_key_does_not_open(key_file):
    text = seal({"master": INFO})
    key_file.unlink()
    new_key_file(key_file)
    with pytest.raises(ConfigError, match=r"SLC-012: .*sealed with another key") as caught:
        open_sealed(text)
    assert KEY_FILE_ENV in caught.value.hint


@pytest.mark.usefixtures("key_file")
def test_an_altered_text_does_not_open():
    text = seal({"master": INFO})
    with pytest.raises(ConfigError, match=r"SLC-012"):
        open_sealed(text[:-6] + "AAAA==")


@pytest.mark.usefixtures("key_file")
@pytest.mark.parametrize("text", ["abc", "\udcff", "=" * 100], ids=ascii)
def test_what_was_never_sealed_does_not_open(text):
    with pytest.raises(ConfigError, match=r"SLC-012"):
        open_sealed(text)


@pytest.mark.usefixtures("key_file")
def test_a_job_without_connections_says_how_to_start_it(monkeypatch):
    monkeypatch.delenv(SEALED_ENV, raising=False)
    with pytest.raises(ConfigError, match=rf"SLC-014: .*{SEALED_ENV} is not set") as caught:
        connections.sealed_text()
    assert "DAG" in caught.value.hint


@pytest.mark.parametrize("content", [None, b"", b"no key"], ids=["missing", "empty", "nonsense"])
def test_a_bad_key_file_is_named(tmp_path, monkeypatch, content):
    path = tmp_path / "seal.key"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv(KEY_FILE_ENV, str(path))
    with pytest.raises(ConfigError, match=r"SLC-012: .*seal.key") as caught:
        seal({})
    assert KEY_FILE_ENV in caught.value.hint


def test_a_refusal_that_an_older_libpq_cannot_trace_is_known_by_its_words(monkeypatch):
    monkeypatch.setattr(libpq, "_notices", lambda notes, conninfo: b"F\t57\tUnknown message: length is 57\n")
    said = {"no pg_hba.conf entry for host": "28000", "sorry, too many clients already": None}
    for words, state in said.items():
        assert libpq.refusal_sqlstate(psycopg.OperationalError(f"FATAL:  {words}"), {}) == state
