"""The look at where jobs find Spark."""

from __future__ import annotations

import pytest

from sluice.connections import ConnectionInfo
from sluice.errors import SluiceError
from sluice.monitor.spark_address import look_at_spark

IN_JOBS = ConnectionInfo("spark", "local[4]", 0, "", "", "")


@pytest.mark.parametrize(("home", "named"), [("", "no java"), ("/nowhere", "no /nowhere/bin/java")])
def test_a_spark_that_jobs_start_needs_java(monkeypatch, tmp_path, home, named):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(SluiceError, match=f"SLC-064: Spark needs Java here, and there is {named}") as told:
        look_at_spark(IN_JOBS)
    assert "Java 17" in told.value.hint
    java = tmp_path / "java"
    java.touch(mode=0o700)
    monkeypatch.delenv("JAVA_HOME")
    assert look_at_spark(IN_JOBS) == "spark local[4], looked at by the first job"
