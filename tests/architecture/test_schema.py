"""The JSON schema that editors read is the one that the models give."""

from __future__ import annotations

import json

import jsonschema
import pytest
import yaml

from sluice import paths
from sluice.config import configuration

FILE = paths.PROJECT / "include" / "config" / "replication.schema.json"


def test_the_json_schema_is_up_to_date():
    assert FILE.read_text(encoding="utf-8") == json.dumps(configuration.schema(), indent=2) + "\n", (
        "python -c 'import json, sluice.config.configuration as c; print(json.dumps(c.schema(), indent=2))' > "
        "include/config/replication.schema.json"
    )


@pytest.mark.parametrize("file", ["include/config/replication.yaml", "deploy/replication.yaml"])
def test_the_examples_name_the_schema_and_fit_it(file):
    path = paths.PROJECT / file
    text = path.read_text(encoding="utf-8")
    jsonschema.validate(yaml.safe_load(text), configuration.schema())
    named = text.partition("$schema=")[2].partition("\n")[0]
    assert not named or (path.parent / named).resolve() == FILE
