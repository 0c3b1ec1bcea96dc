"""Where a slave of files is."""

from __future__ import annotations

import pytest

from sluice.connections import ConnectionInfo
from sluice.errors import ConfigError
from sluice.model.names import Pair
from sluice.vendors.parquet.directory import replication_directory

NO_PLACES = {
    "relative": {"path": "lake"},
    "none": {},
    "with a question mark": {"path": "/lake/what?"},
    "with a hash sign": {"path": "/lake/nr#1"},
    "of an object store": {"path": "s3://lake/a"},
    "kept for no number of hours": {"path": "/lake", "keep_hours": "long"},
}


@pytest.mark.parametrize("extra", NO_PLACES.values(), ids=NO_PLACES)
def test_a_connection_that_names_no_directory_is_refused(extra):
    with pytest.raises(ConfigError, match=r"SLC-017: the connection of slave zurich names no directory"):
        replication_directory(ConnectionInfo("fs", extra=extra), Pair("flights", "zurich"))
