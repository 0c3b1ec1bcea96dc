"""On a slave that writes names in lower case two tables of a master never become one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sluice.errors import SluiceError
from sluice.model.layout import Column, Layout
from sluice.model.names import TableName
from sluice.vendors.mariadb.catalog.tables import table_of
from sluice.vendors.mariadb.server import MARIADB, MYSQL


@pytest.mark.parametrize("server", [MARIADB, MYSQL], ids=lambda server: server.name)
def test_a_table_that_would_be_called_otherwise_is_refused(server):
    folding = replace(server, folds=True)
    for schema, table in (("shop", "Planes"), ("Shop", "planes")):
        layout = Layout(1, TableName(schema, table), (Column("Id", "integer", True),), (0,))
        assert table_of(layout, server).name == layout.name
        with pytest.raises(SluiceError, match=r"(?s)SLC-432: .*lower_case_table_names = 1.*call it otherwise"):
            table_of(layout, folding)
    assert table_of(Layout(1, TableName("shop", "planes"), (Column("Id", "integer", True),), (0,)), folding)
