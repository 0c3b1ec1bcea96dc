"""A MySQL server is a slave and no master, and none that would make other tables than were meant (R7)."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from sluice.errors import SluiceError
from sluice.vendors.mariadb.session import connect, execute
from sluice.vendors.mariadb.vendor import VENDOR

pytestmark = [pytest.mark.postgres]


def test_no_source_is_on_mysql(mysql_server):
    source = VENDOR.master.source(mysql_server.create_account(), None, "REPL_")
    for asked in (lambda: source.master.eligible(["shop"]), source.capture.is_installed):
        with pytest.raises(SluiceError, match=r"SLC-615: .* is MySQL, which can be a slave, and no master"):
            asked()


def test_a_server_that_demands_a_key_or_adds_one_is_refused(mysql_server):
    info = mysql_server.create_account()
    for name in ("sql_require_primary_key", "sql_generate_invisible_primary_key"):
        mysql_server.execute(f"SET GLOBAL {name} = 1")
        with pytest.raises(SluiceError, match=rf"(?s)SLC-616: .* has {name} on.*SET PERSIST {name} = 0"):
            connect(info, "test")
        mysql_server.execute(f"SET GLOBAL {name} = 0")
    connect(info, "test").close()


@pytest.mark.parametrize("mode", ["disable", "prefer", "require"])
def test_a_password_is_taken_with_tls_and_without(mysql_server, mode):
    info = replace(mysql_server.create_account(), extra={"sslmode": mode})
    with closing(connect(info, "test")) as session:
        ((_, cipher),) = execute(session, "SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    assert bool(cipher) == (mode != "disable")
