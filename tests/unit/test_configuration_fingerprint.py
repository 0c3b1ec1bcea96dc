"""The fingerprint of a configuration tells what a run has read from what another one has."""

from __future__ import annotations

import yaml

from sluice.config.configuration import Config

EXAMPLE = """
sources: {flights: {connection: master, tables: {public.airlines: {}}}}
slaves: {zurich: {connection: zurich, tables: {public.airlines: {exclude_columns: [COLUMNS]}}}}
replications: [{source: flights, slave: zurich}]
"""
COLUMNS = [f"c{number}" for number in range(20)]


def fingerprint(text: str, names: list[str] = COLUMNS) -> str:
    return Config.model_validate(yaml.safe_load(text.replace("COLUMNS", ", ".join(names)))).fingerprint


def test_another_setting_changes_it_and_another_order_does_not():
    same = fingerprint(EXAMPLE)
    assert len(same) == 8
    assert fingerprint(EXAMPLE, COLUMNS[::-1]) == same
    # A page shows it at once, and no run reads it.
    assert fingerprint(EXAMPLE + "pages: {title: Production}\n") == same
    assert fingerprint(EXAMPLE.replace("slave: zurich}", "slave: zurich, alters: ask}")) != same
