"""Where change logs are and where initial data travels: which URLs are taken, and what is said of one that fails."""

from __future__ import annotations

import pytest

from sluice.changelog import initial_data
from sluice.errors import ConfigError, TransientError
from sluice.storage.directory import Directory

EXAMPLE = """
sources:
  flights:
    connection: master
    tables: {public.airlines: {}}
slaves: {zurich: {connection: zurich}}
replications: [{source: flights, slave: zurich}]
"""


def test_of_what_a_filesystem_says_the_first_line_is_told() -> None:
    """Of `hdfs://` without its libraries pyarrow tells a hundred places where it looked."""
    said = "no libhdfs\ndlopen(/usr/lib/libhdfs.so) failed\ndlopen(/lib/libhdfs.so) failed"
    with pytest.raises(TransientError) as failed, Directory("/there").reachable("read"):
        raise OSError(said)
    assert "SLC-180: the directory /there cannot be read: no libhdfs\n" in str(failed.value)
    assert "dlopen" not in str(failed.value)


KEYS = ["s3://AKIA:c2Vj%2Fcg@bucket/x", "abfss://:c2VjcmV0@files/x", "abfss://files@a.net/x?client_secret=c2VjcmV0"]


@pytest.mark.parametrize("url", KEYS, ids=["S3", "Azure", "an option"])
@pytest.mark.parametrize("where", ["change_log", "sources.flights.initial_files.location"])
def test_a_url_with_a_key_is_refused_without_showing_it(read, url, where):
    """It would stand in logs, in the control store and in Airflow."""
    text = EXAMPLE
    if where == "change_log":
        text = f"change_log: {url}{EXAMPLE}"
    else:
        text = EXAMPLE.replace("connection: master", f"connection: master\n    initial_files: {{location: '{url}'}}")
    with pytest.raises(ConfigError, match=f"(?s)SLC-002.*{where}: a URL must not have a password") as caught:
        read(text)
    assert "c2Vj" not in str(caught.value)


def test_a_url_may_name_a_user_and_a_server(read):
    for url in ("hdfs://sluice@name:8020/a@b:c", "s3://bucket/x?endpoint_override=127.0.0.1:9000&scheme=http"):
        assert read(f"change_log: {url}{EXAMPLE}").change_log_url == url


def test_what_waits_in_a_change_log_of_hadoops_is_found_by_the_name_that_pyarrow_has_for_it(read):
    for url, there in (("s3a://b/log/", "s3://b/log"), ("hdfs://name/log", "hdfs://name/log"), ("/log", "/log")):
        assert initial_data.place(read(f"change_log: {url}{EXAMPLE}")) == f"{there}/initial_files"
