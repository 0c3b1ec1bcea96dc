"""Settings of a source whose log the server itself decodes."""

from __future__ import annotations

import pytest

from sluice.config.configuration import Config
from sluice.config.logical_decoding import Decoding
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.errors import ConfigError
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.settings import CaptureSettings
from sluice.vendors.gaussdb.session import PINNED

GAUSS = {"vendor": "gaussdb", "capture": "log"}


def source(**settings):
    plain = {
        "sources": {"shop": {"connection": "shop", "tables": {"public.t": {}}, **settings}},
        "slaves": {},
        "replications": [],
    }
    # Nobody has this name, so that whatever is opened fails otherwise.
    return Context(Config.model_validate(plain), {"shop": ConnectionInfo("postgres", "nobody.invalid")}).source("shop")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"vendor": "gaussdb"}, "SLC-438: .* cannot be captured by `triggers`"),
        ({"decoding": {}}, "SLC-438: .* has no `decoding`"),
        ({**GAUSS, "decoding": {"slot": "a slot"}}, "SLC-041"),
        ({**GAUSS, "decoding": {"options": {"parallel-decode-num": 4}}}, "SLC-438: .* excludes"),
        ({**GAUSS, "decoding": {"options": {"white-table-list": "public.t"}}}, "SLC-438: .* excludes"),
        ({**GAUSS, "decoding": {"options": {"include-xids": False}}}, "SLC-438: .* excludes"),
        ({**GAUSS, "decoding": {"options": {"max-txn-in-memory": 101}}}, "SLC-438: .*max-txn-in-memory"),
    ],
)
def test_settings_that_do_not_fit_are_refused_before_anything_is_opened(settings, said):
    with pytest.raises(ConfigError, match=said):
        source(**settings)


def test_the_watched_tables_are_listed_unless_the_list_cannot_hold_one_of_their_names():
    settings = CaptureSettings.of("log", None)
    tables = [TableName("public", "t"), TableName("public", "u")]
    assert settings.watching(tables).arguments() == ["include-xids", "true", "white-table-list", "public.t,public.u"]
    assert settings.watching([*tables, TableName("public", "a b")]).arguments() == ["include-xids", "true"]


def test_a_column_that_may_be_rounded_is_named_with_its_table_and_by_no_wildcard():
    given = Decoding(rounded_floats={'public."a.b"': ["x", "y.z"]})
    assert CaptureSettings.of("log", given).rounded == {
        (TableName("public", "a.b"), "x"),
        (TableName("public", "a.b"), "y.z"),
    }
    for wrong in ("t", "public.*"):
        with pytest.raises(ValueError, match=r"no table|no wildcard"):
            Decoding(rounded_floats={wrong: ["x"]})


def test_sessions_ask_for_all_digits_that_a_server_before_version_12_has():
    assert PINNED["extra_float_digits"] == "3"
