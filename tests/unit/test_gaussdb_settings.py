"""Settings of a source whose log the server itself decodes."""

from __future__ import annotations

import pytest

from sluice.config.configuration import Config
from sluice.connections import ConnectionInfo
from sluice.context import Context
from sluice.errors import ConfigError
from sluice.model.names import TableName
from sluice.vendors.gaussdb.capture.settings import CaptureSettings

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
    ("settings", "code"),
    [
        ({"vendor": "gaussdb"}, 426),
        ({"decoding": {}}, 426),
        ({**GAUSS, "decoding": {"slot": "a slot"}}, 425),
        ({**GAUSS, "decoding": {"options": {"parallel-decode-num": 4}}}, 424),
        ({**GAUSS, "decoding": {"options": {"white-table-list": "public.t"}}}, 424),
        ({**GAUSS, "decoding": {"options": {"include-xids": False}}}, 424),
        ({**GAUSS, "decoding": {"options": {"max-txn-in-memory": 101}}}, 423),
    ],
)
def test_settings_that_do_not_fit_are_refused_before_anything_is_opened(settings, code):
    with pytest.raises(ConfigError, match=f"SLC-{code}"):
        source(**settings)


def test_the_watched_tables_are_listed_unless_the_list_cannot_hold_one_of_their_names():
    settings = CaptureSettings.of("log", None)
    tables = [TableName("public", "t"), TableName("public", "u")]
    assert settings.watching(tables).arguments() == ["include-xids", "true", "white-table-list", "public.t,public.u"]
    assert settings.watching([*tables, TableName("public", "a b")]).arguments() == ["include-xids", "true"]
