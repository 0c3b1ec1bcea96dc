"""The documents say what is so: keys, error codes, commands, links and files that they name are those that exist."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from support.cells import CELLS
from support.store_tables import metadata

from sluice import errors
from sluice.cli.parser import parser as command_parser
from sluice.config import configuration
from sluice.dev import reference
from sluice.vendors.postgresql import errors as postgresql_errors

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "include" / "docs"
DOCUMENTS = sorted([*PROJECT.glob("*.md"), *DOCS.rglob("*.md"), PROJECT / "sql" / "README.md"])
ERROR_PAGE = (DOCS / "errors.md").read_text(encoding="utf-8")

MASTERS = "repl_"
ERRORS = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, errors.SluiceError)}


@cache
def tracked() -> list[str]:
    """Every file of the project, or of a copy that git does not know."""
    try:
        names = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True)
        return [name for name in names.stdout.split("\0") if name and (PROJECT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        files = (file.relative_to(PROJECT) for file in PROJECT.rglob("*") if file.is_file())
        return [str(file) for file in files if not any(part.startswith(".") for part in file.parts[:-1])]


def rows(text: str) -> list[list[str]]:
    """The cells of every table row."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


# Configuration


def test_every_key_has_a_description_and_a_default_or_is_required():
    schema = configuration.schema()
    models = [one for one in (schema, *schema["$defs"].values()) if "properties" in one]
    assert len(models) > 20
    for model in models:
        assert model["description"], model["title"]
        for key, value in model["properties"].items():
            # A section is described by its model.
            assert value.get("description") or "$defs" in json.dumps(value), (model["title"], key)
            assert ("default" in value) != (key in model.get("required", [])), (model["title"], key)


def test_the_page_of_keys_has_every_key_in_a_section_of_its_own_with_its_default():
    page = (DOCS / "keys.md").read_text(encoding="utf-8")
    sections = dict(section.split("\n", 1) for section in re.split(r"\n#+ ", page)[1:])
    tables = {title.strip("`"): rows(section)[1:] for title, section in sections.items()}
    assert tables["sources.<name>.segments"][1][:3] == ["`keep_hours`", "number from 0", "`24`"]
    assert tables["replications[]"][0][:3] == ["`source`", "text", "required"]
    assert [row[2] for row in tables["slaves.<name>.tables.<schema.table>"][:4]] == ["`false`", "none", "`{}`", "`[]`"]
    models = [one for one in configuration.schema()["$defs"].values() if "properties" in one]
    assert len(tables) == len(models) + 1
    assert sum(map(len, tables.values())) == sum(len(one["properties"]) for one in models) + len(tables["The file"])


# Error codes


# The first argument of a call of an error, or of the base class's; a comment may come before it.
CODED = re.compile(rf"\b(?:{'|'.join(ERRORS)}|__init__)\((?:\s|#.*\n)*(\d+)\s*[,)]")


@cache
def used_codes() -> set[str]:
    """Of the code and of the launcher, which stands alone."""
    numbers = {code for code, _, _ in postgresql_errors._STATES.values()}
    for name in tracked():
        if name.endswith(".py") and name.startswith(("include/", "plugins/", "spark_jobs/", "dags/")):
            numbers |= set(map(int, CODED.findall((PROJECT / name).read_text(encoding="utf-8"))))
    launcher = re.findall(r'"SLC-(\d{3})"', (PROJECT / "sluice").read_text(encoding="utf-8"))
    return {f"SLC-{number:03d}" for number in numbers} | {f"SLC-{number}" for number in launcher}


def test_the_page_of_errors_explains_every_error_code_and_no_other():
    explained = [row[0] for row in rows(ERROR_PAGE) if re.fullmatch(r"SLC-\d{3}", row[0])]
    assert len(explained) == len(set(explained))
    assert set(explained) == used_codes()


def test_each_code_has_a_meaning_what_is_safe_and_what_to_type():
    explained = [row for row in rows(ERROR_PAGE) if row[0].startswith("SLC-")]
    assert not [row for row in explained if len(row) != 4 or not all(row)]


def test_codes_named_in_a_document_exist():
    named = {document.name: set(re.findall(r"SLC-\d{3}", document.read_text("utf-8"))) for document in DOCUMENTS}
    assert not {name: codes - used_codes() for name, codes in named.items() if codes - used_codes()}


# Links, files, commands


def slug(title: str) -> str:
    """The anchor of a title, as Markdown viewers make it."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def plain(document: Path) -> str:
    """The text without its blocks of code."""
    return re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def test_every_relative_link_leads_somewhere():
    assert not [f"{document.name}: {link}" for document in DOCUMENTS for link in dead_links(document)]


def dead_links(document: Path) -> list[str]:
    return [
        target
        for target in re.findall(r"\]\(([^)\s]+)\)", plain(document))
        if "://" not in target and not leads_somewhere(document, *target.partition("#")[::2])
    ]


def leads_somewhere(document: Path, path: str, anchor: str) -> bool:
    file = (document.parent / path).resolve() if path else document
    if not file.exists():
        return False
    return not anchor or anchor in map(slug, re.findall(r"^#+ (.+)$", plain(file), flags=re.MULTILINE))


def test_every_file_of_the_code_that_a_document_names_exists():
    there = [f"/{name}" for name in tracked()]
    assert not [
        f"{document.name}: {named}"
        for document in DOCUMENTS
        if document.name != "CONTRIBUTING.md"
        for named in set(re.findall(r"`([\w./]+\.(?:py|sql|yaml))`", document.read_text(encoding="utf-8")))
        if not any(name.endswith(f"/{named}") for name in there)
    ]


@cache
def commands() -> dict[str, set[str]]:
    """Every command of ./sluice with its options."""
    parser = command_parser()
    (choices,) = (part.choices for part in parser._actions if isinstance(part, argparse._SubParsersAction))
    return {
        name: {option for part in one._actions for option in part.option_strings} for name, one in dict(choices).items()
    }


def test_every_command_that_a_document_names_exists():
    assert not [f"{file.name}: {words}" for file in DOCUMENTS for words in commands_in(file) if not is_command(words)]


def commands_in(document: Path) -> list[str]:
    text = document.read_text(encoding="utf-8")
    code = [*re.findall(r"^```.*?^```", text, flags=re.DOTALL | re.MULTILINE), *re.findall(r"`([^`\n]+)`", text)]
    return re.findall(r"\./sluice((?: +[\w\[\]-]+)+)", "\n".join(code))


def is_command(words: str) -> bool:
    command, *more = words.replace("[", " ").replace("]", " ").split()
    if command.startswith("-"):
        return command in {"--help", "-h"}
    return command in commands() and {word for word in more if word.startswith("-")} <= commands()[command]


def test_pages_that_are_made_from_the_code_say_what_it_says():
    assert not reference.outdated_pages(command_parser(), reference.PAGES), "type ./sluice docs --reference"


def test_the_table_of_pairs_has_those_that_a_test_runs():
    section = (DOCS / "install.md").read_text(encoding="utf-8").partition("\n## What was run\n")[2]
    (_, *pysparks), *lines = rows(section)
    said = {(airflow, *pair) for airflow, *cells in lines for pair in zip(pysparks, cells, strict=True)}
    assert {pair[:2] for pair in said if pair[2] == "equal"} == {cell[:2] for cell in CELLS}
    assert all(f"{cell.python}" in section for cell in CELLS)
    assert {word for *_, word in said} <= {"equal", "not run"}


def test_what_is_written_by_hand_can_be_read_to_its_end():
    made = {*reference.PAGES, *reference.DAG_PAGES}
    words = {file.name: len(file.read_text("utf-8").split()) for file in DOCS.rglob("*.md") if file.name not in made}
    assert sum(words.values()) <= 55_000
    assert not {name: count for name, count in words.items() if count > 2_500}


def test_the_readme_is_short_and_has_the_two_commands_of_the_first_screen():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert len(readme.split()) <= 900
    first_screen = readme.splitlines()[:50]
    assert all(any(line.startswith(f"./sluice {name}") for line in first_screen) for name in ("demo", "test"))


# The rules


@pytest.mark.parametrize("rule", [f"R{number}" for number in range(1, 11)])
def test_a_rule_has_one_worked_example(rule):
    text = (DOCS / "correctness.md").read_text(encoding="utf-8")
    assert text.count(f"\n## {rule} ") == 1
    section = text.split(f"\n## {rule} ")[1].split("\n## ")[0]
    assert section.count("**Example.**") == 1


def test_snapshots_in_examples_are_such_as_a_server_prints():
    """PostgreSQL manual, "Transaction ID and Snapshot Information Functions": xmin is the lowest that is active."""
    found = re.findall(r"`(\d+):(\d+):([\d,]*)`", (DOCS / "correctness.md").read_text(encoding="utf-8"))
    assert found
    for low, high, active in found:
        assert min([int(one) for one in active.split(",") if one], default=int(high)) == int(low)


# The code


@pytest.mark.parametrize("folder", ["include/sluice", "include/sluice/vendors/postgresql"])
def test_the_architecture_page_names_every_room_and_no_other(folder):
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    title = "The rooms of a vendor" if "vendors" in folder else "The rooms"
    section = page.split(f"\n### {title}\n")[1].split("\n##")[0]
    named = {name for row in rows(section) for name in re.findall(r"`(\w+)/`", row[0])}
    assert named == {file.parent.name for file in (PROJECT / folder).glob("*/__init__.py")}


def test_the_page_of_the_control_store_names_every_table_and_only_columns_that_they_have():
    page = (DOCS / "control_store.md").read_text(encoding="utf-8").split("\n## Tables on a slave")[0]
    known = metadata.tables
    named: set[str] = set()
    for name_cell, _, columns in rows(page)[1:]:
        names = re.findall(r"`(\w+)`", name_cell)
        named |= set(names)
        theirs = {column.name for name in names for column in known[name].columns}
        assert set(re.findall(r"`(\w+)`", columns)) <= theirs, names
    assert named == set(known)


def test_a_page_says_what_bounds_each_table_of_ours_and_names_no_other_setting():
    section = (DOCS / "deployment.md").read_text(encoding="utf-8").split("\n## What grows, and")[1].split("\n## ")[0]
    named, settings = set(), set()
    for names, bound, *more in rows(section):
        assert bound, names
        named |= set(re.findall(r"`(\w+)`", names))
        settings |= set(re.findall(r"`([\w.]+)`", "".join(more)))
    made = {
        (MASTERS if "capture" in file.parts or "statements" in file.parts else "sluice_") + name
        for file in (PROJECT / "sql").rglob("*.sql")
        for name in re.findall(r"^CREATE TABLE (?:IF NOT EXISTS )?\{(\w+)\}", file.read_text("utf-8"), re.MULTILINE)
    }
    # What is no table of ours, and what is called otherwise in the database.
    made = made - {"sluice_table", "repl_records"} | {"repl_statement"}
    assert {one for one in named if one.startswith((MASTERS, "sluice_"))} == made
    assert {one for one in named if not one.startswith((MASTERS, "sluice_"))} - {"initial_files"} == {*metadata.tables}
    keys = set(re.findall(r"`([\w]+)`", (DOCS / "keys.md").read_text(encoding="utf-8")))
    assert {part for one in settings for part in one.split(".")} - {"on", "spark", "history", "fs", "cleaner"} <= keys


def test_the_page_of_dags_names_every_job_and_no_other():
    page = (DOCS / "dags.md").read_text(encoding="utf-8").split("\n## Jobs")[1].split("\n| environment")[0]
    named = {name for row in rows(page) for name in re.findall(r"`(\w+)`", row[0])}
    assert named == {job.stem for job in (PROJECT / "spark_jobs").glob("*.py")}


# The original


def test_the_guide_is_named_and_no_other_original_is_spoken_of():
    architecture = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert architecture.count("*the guide*") == 1
    speaking = {
        name
        for name in tracked()
        if name.startswith(("include/", "sql/", "dags/", "plugins/", "spark_jobs/"))
        and name.endswith((".py", ".sql", ".md"))
        and re.search(r"\bthe seed\b(?! alone)", (PROJECT / name).read_text(encoding="utf-8"))
    }
    assert not speaking


# What belongs to one machine


def test_no_file_names_a_package_index():
    hosts = [
        ".".join(parts) for parts in (("py" + "pi", "org"), ("python" + "hosted", "org"), ("ana" + "conda", "org"))
    ]
    for name in tracked():
        text = (PROJECT / name).read_text(encoding="utf-8", errors="replace")
        assert not [host for host in hosts if host in text], name
    assert "://" not in (PROJECT / "uv.lock").read_text(encoding="utf-8")


def test_no_file_names_a_place_of_one_machine():
    somebodys = re.compile(r"(?<![\w.$}/])/(?:home|root|Users|work|workspace|mnt)/\w")
    found = {
        name: match[0]
        for name in tracked()
        if (match := somebodys.search((PROJECT / name).read_text(encoding="utf-8", errors="replace")))
    }
    assert not found
