"""The launcher's uv: the version and the hashes of uv.lock, and nothing else that an index may hand out."""

from __future__ import annotations

import ensurepip
import hashlib
import os
import re
import runpy
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from sluice.paths import PROJECT

LOCK = """version = 1

[[package]]
name = "other"
version = "1.0"
wheels = [
    {{ filename = "other-1.0-py3-none-any.whl", hash = "sha256:{other}" }},
]

[[package]]
name = "uv"
version = "0.13.9"
sdist = {{ filename = "uv-0.13.9.tar.gz", hash = "sha256:{other}" }}
wheels = [
    {{ filename = "uv-0.13.9-py3-none-win32.whl", hash = "sha256:{other}" }},
    {{ filename = "uv-0.13.9-py3-none-any.whl", hash = "sha256:{digest}" }},
]

[[package]]
name = "zebra"
version = "2.0"
"""


@pytest.fixture
def launcher():
    return runpy.run_path(str(PROJECT / "sluice"))


def make_wheel(directory: Path, version: str) -> Path:
    """A wheel whose program says that it is uv of a version."""
    info = f"uv-{version}.dist-info"
    wheel = directory / f"uv-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        program = zipfile.ZipInfo(f"uv-{version}.data/scripts/uv")
        program.external_attr = 0o100755 << 16
        packed.writestr(program, f"#!/bin/sh\necho uv {version}\n")
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: uv\nVersion: {version}\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    return wheel


@pytest.fixture
def index(launcher, monkeypatch, tmp_path):
    """Find uv where pip knows a directory alone, of a version and a newer one; by the digest that uv.lock has."""
    wheel = make_wheel(tmp_path, "0.13.9")
    make_wheel(tmp_path, "0.99.0")
    functions = launcher["find_uv"].__globals__
    monkeypatch.setitem(functions, "CHECKOUT", tmp_path)
    monkeypatch.setitem(functions, "BOOT", tmp_path)
    env = os.environ | {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    # To install pip in each venv takes long.
    (pip,) = Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl")
    zipfile.ZipFile(pip).extractall(tmp_path / "pip")
    env["PYTHONPATH"] = str(tmp_path / "pip")
    run = functions["run"]
    bare = {"--clear": ["--clear", "--without-pip"]}

    def run_fast(title, command, env):
        run(title, [word for each in command for word in bare.get(each, [each])], env)

    monkeypatch.setitem(functions, "run", run_fast)

    def find(digest: str | None = None, path: str = os.devnull) -> str:
        monkeypatch.setenv("PATH", path)
        digest = digest or hashlib.sha256(wheel.read_bytes()).hexdigest()
        (tmp_path / "uv.lock").write_text(LOCK.format(digest=digest, other="0" * 64))
        return launcher["find_uv"](env)

    return find


def test_a_file_with_another_hash_is_refused_and_that_of_the_lock_file_installed(launcher, index, tmp_path):
    with pytest.raises(launcher["find_uv"].__globals__["Failure"]) as failed:
        index("1" * 64)
    assert re.match("SLC-281: .+DO NOT MATCH THE HASHES", str(failed.value), re.DOTALL)
    uv = index()
    assert uv == str(tmp_path / "venv" / "bin" / "uv")
    assert subprocess.run([uv], capture_output=True, text=True, check=True).stdout == "uv 0.13.9\n"


def test_a_recent_uv_of_the_machine_is_taken(index, tmp_path):
    (tmp_path / "uv").write_text("#!/bin/sh\necho uv 0.9.0\n")
    (tmp_path / "uv").chmod(0o755)
    assert index("1" * 64, str(tmp_path)) == str(tmp_path / "uv")


def test_pip_gets_every_wheel_of_the_lock_file_and_no_source(launcher, monkeypatch, tmp_path):
    monkeypatch.setitem(launcher["find_uv"].__globals__, "BOOT", tmp_path)
    (uv,) = [each for each in tomllib.loads((PROJECT / "uv.lock").read_text())["package"] if each["name"] == "uv"]
    words = launcher["write_uv_requirement"]().read_text().split()
    assert words == [f"uv=={uv['version']}", *(f"--hash={wheel['hash']}" for wheel in uv["wheels"])]
    assert len(words) > 10
