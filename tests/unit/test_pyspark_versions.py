"""Two packages are PySpark, and install into one folder: they must have one version."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sluice.errors import SluiceError
from sluice.spark.versions import expect_one_version


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Let Python find these versions of packages."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(**versions: str) -> None:
        for name, version in versions.items():
            folder = tmp_path / f"{name}-{version}.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    return install


def test_two_versions_of_pyspark_are_refused_with_the_command_that_leaves_one(install):
    install(pyspark="4.2.1", pyspark_client="4.2.0")
    with pytest.raises(
        SluiceError, match=r"^SLC-923: pyspark 4\.2\.1 and pyspark-client 4\.2\.0 are installed"
    ) as caught:
        expect_one_version()
    assert 'pip uninstall --yes pyspark pyspark-client; pip install "pyspark[connect]==4.2.1"' in caught.value.hint


def test_two_packages_of_one_version_are_one_pyspark(install):
    install(pyspark="4.2.1", pyspark_client="4.2.1")
    expect_one_version()


@pytest.mark.parametrize("name", ["_on_exit", "_cleanup_ml_cache", "_cleanup_ml"])
def test_a_client_of_spark_connect_asks_for_nothing_when_its_process_ends(name):
    program = f"""
import atexit
from types import SimpleNamespace
from sluice.spark.versions import keep_quiet_at_exit
class Client:
    def {name}(self):
        print("asked")
client = Client()
atexit.register(client.{name})
keep_quiet_at_exit(SimpleNamespace(client=client))
"""
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout == b""
