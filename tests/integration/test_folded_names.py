"""Servers that write all names in lower case (lower_case_table_names = 1), as those of Azure do (R7)."""

from __future__ import annotations

from contextlib import closing

import pytest
from support.binlog import left_out
from support.mariadb import MariaServer
from support.mysql import CannotBeHad, MySqlServer, unpacked
from support.places import server_directory
from support.world import SOURCE

from sluice.errors import SluiceError
from sluice.model.names import TableName

pytestmark = [pytest.mark.full(but=["mariadb"]), pytest.mark.postgres]

FOLDS = "--lower-case-table-names=1"
DDL = """
CREATE TABLE Planes (Id int PRIMARY KEY, v varchar(9));
CREATE TABLE Fleet (id int PRIMARY KEY);
INSERT INTO Planes VALUES (1, 'é')
"""


class FoldingMySql(MySqlServer):
    """MySQL, whose data have to be made so, too."""

    @property
    def _places(self) -> list[str]:
        return [*super()._places, FOLDS]


@pytest.fixture(scope="module", params=["mariadb", "mysql"])
def master_server(request, tmp_path_factory):
    """A server of its own."""
    with server_directory(tmp_path_factory.mktemp("folding")) as directory:
        if request.param == "mariadb":
            request.getfixturevalue("maria_server")
            made, more = MariaServer(directory), [FOLDS]
        else:
            try:
                made, more = FoldingMySql(directory, unpacked()), []
            except CannotBeHad as error:
                pytest.skip(f"MySQL cannot be had: {error}")
        made.start(*more)
        yield made
        made.stop()


def test_names_of_statements_are_those_of_the_rows(binlog):
    world, master = binlog(DDL, ["*"], into="mariadb", slaves=("geneva",))
    master.execute(
        "ALTER TABLE PLANES ADD n int",
        "INSERT INTO planeS VALUES (2, 'x', 7)",
        "RENAME TABLE Fleet TO Armada",
        f"CREATE TABLE {master.name.upper()}.Crew (ID int PRIMARY KEY)",
        "INSERT INTO crew VALUES (9)",
    )
    world.catch_up()
    assert world.verify() == {"geneva": 0}
    # As for every name that is watched, too.
    assert left_out(world, "geneva").keys() == {"armada"}
    slave = world.infos["geneva"].database
    assert master.server.execute(f"SELECT * FROM {slave}.planes ORDER BY id") == [(1, "é", None), (2, "x", 7)]
    master.execute("TRUNCATE Crew", "DROP TABLE Planes")
    world.catch_up()
    assert master.server.execute(f"SHOW TABLES IN {slave} LIKE '____'") == [("crew",)]
    assert master.server.execute(f"SELECT * FROM {slave}.crew") == []


def test_a_name_in_capitals_is_no_table_and_no_schema(binlog):
    world, master = binlog(DDL, ["planes"], slaves=("zurich",), update=False)
    with closing(world.context.source(SOURCE)) as source:
        (missing,) = source.capture.unwatched([TableName(master.name, "Planes")])
        assert missing.related == (TableName(master.name, "planes"),)
        assert source.master.columns([TableName(master.name, "Planes")]) == {TableName(master.name, "Planes"): []}
    world.configure(lambda to: to["sources"][SOURCE].update(schema=master.name.upper()))
    with (
        closing(world.context.source(SOURCE)) as source,
        pytest.raises(SluiceError, match=rf"(?s)SLC-400: .*lower_case_table_names = 1.*write {master.name} in the"),
    ):
        source.capture.capabilities()
