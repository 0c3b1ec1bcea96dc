"""How long statements of a drain may take: seconds, and more for each row."""

from __future__ import annotations

import pytest

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.vendors.postgresql.write.statement_limit import limit_of


def limit(**extra):
    return limit_of(ConnectionInfo("postgres", "slave", extra=extra))


@pytest.mark.parametrize(
    ("extra", "seconds"),
    [
        ({}, "310000ms"),
        ({"write_timeout": "60"}, "70000ms"),
        ({"write_timeout": 60}, "70000ms"),
        ({"write_timeout": "1+0.5"}, "51000ms"),
        ({"write_timeout": "7+0"}, "7000ms"),
        ({"write_timeout": "2000000+99999"}, "2000000000ms"),
        ({"write_timeout": "0"}, "0ms"),
    ],
)
def test_a_statement_may_take_longer_the_more_rows_it_writes(extra, seconds):
    assert limit(**extra).as_text(100) == seconds


@pytest.mark.parametrize("given", ["", "-1", "1.5", "1+", "+1", "2000001", "1+1+1", "1 s", "٣", "1e3", "9" * 9])
def test_what_is_no_limit_is_refused_by_name(given):
    with pytest.raises(ConfigError, match=r"SLC-017: .*`write_timeout`"):
        limit(write_timeout=given)
