"""Which file is a slave's stylesheet."""

from __future__ import annotations

import pytest

from sluice.apply.transform.stylesheet_file import stylesheet
from sluice.config.models import Stylesheets
from sluice.errors import ConfigError
from sluice.model.names import Pair


@pytest.mark.parametrize(
    ("wanted", "files", "found"),
    [
        ({}, ["REPL_1_0_1_0_zurich.xsl", "REPL_1_0_1_0.xsl"], "REPL_1_0_1_0_zurich.xsl"),
        ({}, ["REPL_1_0_1_0.xsl", "REPL_1_0_1_0_geneva.xsl"], "REPL_1_0_1_0.xsl"),
        ({"version": "0.5 b:[x]"}, ["REPL_1_0_0_5_b__x_.xsl"], "REPL_1_0_0_5_b__x_.xsl"),
        ({"session": "client/Db.Writer/1"}, ["REPL_1_0_1_0.xsl", "REPL_1_0_1_0_clientDb_Writer1.xsl"], 1),
        ({"session": "client/Db.Writer/1"}, ["REPL_1_0_1_0.xsl", "REPL_1_0_1_0_clientDb_Writer.xsl"], 1),
        ({"session": "client/Db.Writer/1"}, ["REPL_1_0_1_0_client.xsl"], None),
        ({"name": "any.xsl"}, ["any.xsl", "REPL_1_0_1_0.xsl"], "any.xsl"),
    ],
)
def test_the_closest_stylesheet_is_found(wanted, files, found, tmp_path, caplog):
    caplog.set_level("INFO", "sluice")
    for name in files:
        (tmp_path / name).write_text(name)
    chosen = stylesheet(Stylesheets(directory=str(tmp_path), **wanted), Pair("flights", "zurich"), "REPL_", "1.0")
    wanted = files[found] if isinstance(found, int) else found
    assert (chosen and (chosen.name, chosen.text.decode())) == (wanted and (wanted, wanted))
    assert ("no stylesheet, messages go as they are" in caplog.text) == (found is None)


def test_a_stylesheet_that_is_named_or_a_directory_has_to_be_there(tmp_path):
    for wanted in ({"directory": str(tmp_path / "none")}, {"directory": str(tmp_path), "name": "none.xsl"}):
        with pytest.raises(ConfigError, match=r"SLC-161: the stylesheets of slave zurich cannot be read: .*none"):
            stylesheet(Stylesheets(**wanted), Pair("flights", "zurich"), "REPL_", "1.0")
