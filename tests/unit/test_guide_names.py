"""What xmlBlaster's guide calls otherwise: every name of it is explained, and what is there is shown by a test."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sluice.config import configuration, models, source_sections

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "include" / "docs" / "guide.md").read_text(encoding="utf-8")

COLUMNS = """
REPL_KEY TRANS_KEY DBID TABLENAME GUID DB_ACTION DB_CATALOG DB_SCHEMA CONTENT OLDCONTENT VERSION CATALOGNAME SCHEMANAME
ACTIONS STATUS TRIGGER_NAME DEBUG RELNAME LINE LONGS_TABLE COLS_VIEW SEQ NEEDS_PROT COL2XML INCREMENT DEBUG_TABLE
CURRENT_TABLES
"""
PROPERTIES = """
actions trigger sequence db.user db.password db.url dbWatcher.maxCollectedStatements dbWriter.caseSensitive
dbWriter.prePostStatement.class dbWriter.queryImportedKeys dbWriter.quoteColumnNames dbWriter.sqlPrePostStatement.sql.*
dbWriter.xslTransformerName mom.* mom.loginName mom.password mom.statusTopicName mom.topicName replication.alters
replication.bootstrapWarnings replication.charWidth replication.charWidthSmall replication.dbSpecific.class
replication.createDropAlterDetection replication.creates replication.drops replication.forceSending
replication.keepDumpFiles replication.importLocation replication.initialFilesLocation replication.initial.stringToCheck
replication.initialCmd replication.initialCmd.sleepDelay replication.initialDataTopic replication.initialDumpAsXml
replication.initialDumpMaxSize replication.mapper.class replication.mapper.column.* replication.mapper.schema.*
replication.mapper.table.* replication.maxRowsOnCreate replication.monitor.statusPollerInterval
replication.oracle.wipeoutFunctions replication.oracle.wipeoutExIfConnected replication.oracle.wipeoutIndexes
replication.oracle.wipeoutPackages replication.oracle.wipeoutProcedures replication.oracle.wipeoutSequences
replication.oracle.wipeoutSynonyms replication.oracle.wipeoutTables replication.oracle.wipeoutTriggers
replication.oracle.wipeoutViews replication.overwriteTables replication.path replication.plsql.debug
replication.plsql.debugFunction replication.prefix replication.prefixGroup replication.recreateTables
replication.searchable.* replication.sendInitialTableContent replication.sendUnchangedUpdates replication.sqlMaxEntries
replication.sqlTopic replication.statements replication.writer.schemaToWipeout table.* transformer.class wipeout.schema
"""


@cache
def rows() -> list[tuple[str, str, str]]:
    """(guide, here, shown by) of every row."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:1] == "|"]
    return [(one[0], one[1], one[2]) for one in cells if one[0] != "guide" and not one[0].startswith("---")]


def test_every_name_of_the_guide_is_explained_once():
    first_cells = [row[0] for row in rows()]
    times = {
        name: sum(bool(re.search(rf"(^|[ `]){re.escape(name)}([ `,]|$)", cell)) for cell in first_cells)
        for name in [*COLUMNS.split(), *PROPERTIES.split()]
    }
    assert not [name for name, count in times.items() if count == 0]
    assert not [name for name, count in times.items() if count > 1 and name not in COLUMNS.split()]


@cache
def written() -> list[str]:
    """What is in the files of tests."""
    return [file.read_text(encoding="utf-8") for file in (PROJECT / "tests").rglob("test_*.py")]


def keys(here: str) -> list[str]:
    """The keys of the configuration that a row names, without the path to them."""
    return [key.rpartition(".")[2] for key in re.findall(r"`([a-z_.<>]+)`", here)]


def test_what_is_there_is_shown_by_a_test_and_what_is_not_says_so():
    for what, here, shown in rows():
        if not shown:
            assert here.startswith("no meaning: "), what
            continue
        told = ""
        for name in re.findall(r"`(\w+)`", shown):
            there = [text for text in written() if f"def {name}(" in text]
            assert there, f"{what}: no test is called {name}"
            told += "".join(there)
        assert told, what
        unset = [key for key in keys(here) if not re.search(rf"\b{key}\b", told)]
        assert not unset, f"{what}: no test of these sets {unset}"


def test_a_key_that_is_named_exists():
    fields = {"slaves": configuration.Slave, "messages": source_sections.Messages, "tables": models.WatchedTable}
    named = [key for _, here, _ in rows() for key in re.findall(r"`((?:messages|tables|slaves)\.[a-z_.<>]+)`", here)]
    assert len(named) > 8
    for key in named:
        first, _, last = key.replace("<table>.", "").replace("<name>.", "").partition(".")
        known = {field.alias or name for name, field in fields[first].model_fields.items()}
        assert last in known, key


def test_only_messaging_has_no_meaning_here():
    assert sum(here.startswith("no meaning: ") for _, here, _ in rows()) == 2
