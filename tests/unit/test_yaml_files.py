"""The configuration as a file of YAML: what is none, or stands for too much, is told before anything is made of it."""

from __future__ import annotations

import pytest

from sluice.config import configuration
from sluice.errors import ConfigError
from sluice.model.limits import MOST_BYTES_OF_FILE

REPEATED = "\n".join(f"k{n}: &k{n} [{', '.join([f'*k{n - 1}' if n else 'x'] * 9)}]" for n in range(9))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("a: 2024-13-45", "'2024-13-45' is no timestamp; put a text into quotes"),
        (f"a: {'9' * 5_000}", "is no int"),
        ("a: !!float x", "'x' is no float"),
        ("a: !!bool x", "'x' is no bool"),
        ('a: "x\\0y"', "a text has a character that is none"),
        ('a: "\\ud800"', "a text has a character that is none"),
        (REPEATED, "with what aliases repeat it has more than 100,000 entries"),
        ("a: &a [*a]", "it holds itself"),
        ("[" * 60 + "]" * 60, "it has more than 50 levels"),
        ("[" * 100_000, "it has more than 50 levels"),
        ("#" * (MOST_BYTES_OF_FILE + 1), "it has more than 2,000,000 bytes"),
    ],
    ids=lambda given: given[:24].replace("\n", " "),
)
def test_what_is_no_yaml_or_too_much_is_told(tmp_path, text, fact):
    file = tmp_path / "replication.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"SLC-002: .*cannot be read") as caught:
        configuration.load(file)
    assert fact in caught.value.fact


def test_no_more_faults_are_told_than_somebody_reads(tmp_path):
    file = tmp_path / "replication.yaml"
    file.write_text("\n".join(f"unknown{number}:" for number in range(5_000)))
    with pytest.raises(ConfigError, match="SLC-002") as caught:
        configuration.load(file)
    assert caught.value.fact.splitlines()[-1] == "  and 4953 more"
