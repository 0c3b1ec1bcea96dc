"""Sessions on Oracle as far as they go without a server: what the driver is asked for, and what its errors mean."""

from __future__ import annotations

import oracledb
import pytest
from oracledb import errors as driver
from support.places import reserve_port

from sluice.connections import ConnectionInfo
from sluice.errors import VALUES_ENV, ConfigError, LockTimeout, SluiceError, TransientError, UnclassifiedError
from sluice.vendors.oracle import session
from sluice.vendors.oracle.errors import explained
from sluice.vendors.oracle.names import parts_of, quoted, resources

PLAIN = ConnectionInfo("oracle", "db1", None, "FREEPDB1", "REPL", "secret")


def with_extra(**extra):
    return ConnectionInfo("oracle", "db1", 1530, "", "REPL", "secret", extra)


@pytest.mark.parametrize(
    ("info", "said"),
    [
        (PLAIN, "HOST=db1)(PORT=1521"),
        (PLAIN, "SERVICE_NAME=FREEPDB1"),
        (with_extra(service_name="sales"), "SERVICE_NAME=sales"),
        (with_extra(sid="XE"), "SID=XE"),
        (with_extra(service_name="sales", protocol="tcps"), "PROTOCOL=tcps"),
        (
            with_extra(service_name="s", protocol="tcps", wallet_location="/etc/wallet"),
            "MY_WALLET_DIRECTORY=/etc/wallet",
        ),
        (with_extra(service_name="s", protocol="tcps", ssl_server_cert_dn="CN=db1"), "SSL_SERVER_CERT_DN=CN=db1"),
    ],
)
def test_the_driver_is_given_what_the_connection_says(info, said):
    how = session.parameters(info, "publish")
    assert "password" not in how
    given = oracledb.ConnectParams(**how)
    assert given.user == "REPL"
    assert given.program == "sluice-publish"
    assert said in str(given.get_connect_string())


@pytest.mark.parametrize("extra", [{}, {"service_name": "s", "protocol": "udp"}])
def test_a_connection_that_names_no_database_is_refused(extra):
    with pytest.raises(ConfigError) as error:
        session.parameters(with_extra(**extra), "publish")
    assert error.value.code == 17
    assert "the connection to" in error.value.fact


@pytest.mark.parametrize("dsn", ["scott/canary@db1:1521/x", " scott/can?ry(canary@db1", "scott@db1/canary"])
def test_a_dsn_with_a_login_is_refused_without_a_word_of_it(dsn):
    with pytest.raises(ConfigError) as error:
        session.connect(with_extra(dsn=dsn), "publish")
    assert error.value.code == 17
    assert "has an @" in error.value.fact
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    "dsn",
    ["db1:1521/x y?wallet_password=canary", '(DESCRIPTION=((WALLET_PASSWORD="canary")', "(CANARY=(canary=canary))"],
)
def test_a_dsn_that_the_driver_cannot_read_is_not_said(monkeypatch, dsn):
    monkeypatch.setenv(VALUES_ENV, "1")
    with pytest.raises(SluiceError) as error:
        session.connect(with_extra(dsn=dsn), "publish")
    assert "DPY-" in error.value.fact
    assert "canary" not in str(error.value)


def test_a_host_whose_name_nobody_knows_is_not_reached():
    with pytest.raises(TransientError, match=r"SLC-030: connecting to nowhere\.invalid:1521"):
        session.connect(ConnectionInfo("oracle", "nowhere.invalid", 1521, "x", "u", "p"), "publish")


def test_a_descriptor_with_an_at_sign_names_no_login():
    dsn = '(DESCRIPTION=(ADDRESS=(HOST=db1))(SECURITY=(SSL_SERVER_CERT_DN="emailAddress=a@b")))'
    assert session.parameters(with_extra(dsn=dsn), "publish")["dsn"] == dsn


@pytest.mark.parametrize("application", ["publish", "load shop->zurich", "verify Größe (1)"])
def test_a_server_that_is_not_there_is_waited_for(application):
    here = ConnectionInfo("oracle", "127.0.0.1", reserve_port(), "FREEPDB1", "REPL", "secret")
    with pytest.raises(TransientError) as error:
        session.connect(here, application)
    assert error.value.code == 30
    assert "secret" not in str(error.value)


# What a server says, in the driver's own class.
SAID = {
    "ORA-12514: Cannot connect to database. Service FREEPDB is not registered": (31, SluiceError),
    "ORA-01017: invalid credential or not authorized; logon denied": (31, SluiceError),
    "ORA-28001: the account has expired": (31, SluiceError),
    "ORA-28000: the account is locked": (31, SluiceError),
    "ORA-01045: user REPL lacks CREATE SESSION privilege; logon denied": (31, SluiceError),
    "ORA-12505: listener does not currently know of SID": (31, SluiceError),
    "ORA-01031: insufficient privileges": (33, SluiceError),
    "ORA-00942: table or view does not exist": (33, SluiceError),
    "ORA-00060: deadlock detected while waiting for resource": (34, TransientError),
    "ORA-08177: can't serialize access for this transaction": (34, TransientError),
    "ORA-00054: resource busy and acquire with NOWAIT specified": (36, LockTimeout),
    "ORA-01536: space quota exceeded for tablespace 'USERS'": (33, SluiceError),
    "ORA-01950: no privileges on tablespace 'USERS'": (33, SluiceError),
    "ORA-30041: Cannot grant quota on the tablespace": (33, SluiceError),
    "ORA-01653: unable to extend table REPL.REPL_ITEMS by 128 in tablespace USERS": (658, TransientError),
    "ORA-01555: snapshot too old: rollback segment number 9": (482, TransientError),
    "ORA-08180: no snapshot found based on specified time": (482, TransientError),
    'ORA-01555: snapshot too old: rollback segment number  with name "" too small\nORA-22924: snapshot too old': (
        482,
        TransientError,
    ),
    "ORA-22924: snapshot too old": (482, TransientError),
    "ORA-01466: unable to read data - table definition has changed": (95, TransientError),
    "ORA-16000: database or pluggable database open for read-only access": (38, SluiceError),
    "ORA-03113: end-of-file on communication channel": (30, TransientError),
    "DPY-4024: call timeout of 5000 ms exceeded": (34, TransientError),
    "ORA-00600: internal error code": (39, UnclassifiedError),
}


@pytest.mark.parametrize("said", SAID)
def test_an_error_of_the_server_is_one_of_ours(said):
    code, kind = SAID[said]
    found = explained(oracledb.DatabaseError(driver._Error(said)), "sweeping ITEMS")
    assert isinstance(found, kind)
    # The driver reports some of the server's codes as one of its own.
    assert found.code in ({code} | ({30} if said.startswith("ORA-00600") else set()))
    assert found.fact.startswith("sweeping ITEMS: ")


def test_rows_that_are_gone_come_with_what_a_dba_types():
    typed = {
        "ORA-01555: snapshot too old: rollback segment number 9": ("SET UNDO_RETENTION", "bulk_tasks"),
        "ORA-22924: snapshot too old": ("MODIFY LOB", "RETENTION MIN"),
    }
    for said, words in typed.items():
        hint = explained(oracledb.DatabaseError(driver._Error(said)), "x").hint
        assert all(one in hint for one in words)


def test_values_of_rows_are_said_only_on_request(monkeypatch):
    said = oracledb.IntegrityError(
        driver._Error(
            "ORA-00001: unique constraint (A.K) violated on table A.T columns (ID)\nrow with column values (ID:77)"
        )
    )
    assert "77" not in explained(said, "x").fact
    monkeypatch.setenv(VALUES_ENV, "1")
    assert "77" in explained(said, "x").fact


def test_settings_are_pinned_in_one_statement():
    assert session.pinning().startswith("ALTER SESSION SET NLS_LANGUAGE = 'AMERICAN' NLS_TERRITORY = 'AMERICA'")
    assert "NLS_NUMERIC_CHARACTERS = '.,'" in session.pinning()


def test_a_server_that_is_too_old_is_refused_and_an_old_one_has_short_names():
    with pytest.raises(SluiceError) as error:
        session.expect_new_enough("11.2.0.4.0", "db1:1521")
    assert error.value.code == 430
    assert "is Oracle" in error.value.fact
    session.expect_new_enough("12.1.0.2.0", "db1:1521")
    assert (session.longest_name("12.1.0.2.0"), session.longest_name("23.5.0.24.07")) == (30, 128)


def test_names_are_in_upper_case_and_short_enough_or_refused():
    made = resources(None, "Repl_")
    assert (made.schema, made.name("items"), made.capture(77)) == ("REPL", "REPL_ITEMS", "REPL_CAP77")
    assert parts_of(made)["items"] == '"REPL"."REPL_ITEMS"'
    made.expect_short(30)
    assert made.shared_name(resources("REPL", "REPL_")) == "REPL_CURRENT_TABLES"
    assert made.shared_name(resources("OTHER", "REPL_")) is None
    with pytest.raises(ConfigError) as error:
        resources(None, "REPLICATION_OF_SALES_").expect_short(30)
    assert error.value.code == 41
    assert "is longer than" in error.value.fact


@pytest.mark.parametrize("name", ["", 'a"b', "a\0b"])
def test_what_no_identifier_can_be_is_refused(name):
    with pytest.raises(ConfigError) as error:
        quoted(name)
    assert error.value.code == 41
    assert "no name of an object in Oracle" in error.value.fact
