"""Every statement for Oracle, and the triggers of 200 tables, are read by a parser of the grammar, and by a look of our
own. No server of Oracle is here: what neither sees, nobody has seen."""

from __future__ import annotations

import pytest
from support import oracle, oracle_slave, plsql

from sluice import sqlfiles

TABLES = {seed: oracle.table(seed) for seed in range(200)}
MADE = {
    f"{seed} {number}": text for seed, one in TABLES.items() for number, text in enumerate(oracle.made_for(one, seed))
}
EVERY_TYPE = {
    f"{kind} {number}": text
    for kind, column in oracle.COLUMNS.items()
    if not kind.startswith("LONG")
    for number, text in enumerate(oracle.made_for(oracle.CapturedTable(oracle.TableName("A", "T"), 1, (column,)), 1))
}
OWN = oracle.installed() | oracle_slave.statements()
TEXTS = OWN | EVERY_TYPE | MADE
COLUMNS = plsql.columns_of(list(OWN.values()))
GOOD = oracle.composed("capture/install/180_note_ddl", **oracle.PARTS)
TRIGGER = MADE["0 1"]
# What was written wrong, by what finds it.
BROKEN_GRAMMAR = {
    "no THEN": GOOD.replace("IF relation IS NULL THEN", "IF relation IS NULL", 1),
    "no END IF": GOOD.replace("END IF;", "", 1),
    "no semicolon": GOOD.replace("RETURN;", "RETURN", 1),
    "a bracket": GOOD.replace("SUBSTRB(statement, 1, 4000)", "SUBSTRB(statement, 1, 4000", 1),
    "no INTO": GOOD.replace("INSERT INTO", "INSERT", 1),
    "a text that does not end": GOOD.replace("'N'", "'N", 1),
    "no end of a section": TRIGGER.replace("END BEFORE STATEMENT;", "END;", 1),
    "a section that there is not": TRIGGER.replace("AFTER EACH ROW IS", "AFTER ALL ROWS IS", 1),
    "an event that there is not": TRIGGER.replace("COMPOUND TRIGGER", "COMPOUND TRIGGERS", 1),
}
BROKEN_OTHERWISE = {
    "wishd is not declared": GOOD.replace("IF wished = 0", "IF wishd = 0", 1),
    "AUTONOMOUS_TRANSACTIONS is no pragma": oracle.composed("capture/install/170_lose", **oracle.PARTS).replace(
        "AUTONOMOUS_TRANSACTION", "AUTONOMOUS_TRANSACTIONS"
    ),
    "new has no colon": TRIGGER.replace(":NEW.", "NEW."),
    "old has no colon": TRIGGER.replace(":OLD.", "OLD."),
    "is longer than 128 bytes": GOOD.replace("REPL_NOTE_DDL", "R" * 129),
    "level is a reserved word": GOOD.replace("wished", "level"),
    "actoins_ is not declared": TRIGGER.replace("actions_(n_) := action_", "actoins_(n_) := action_"),
    "substring is not declared": GOOD.replace("SUBSTRB(", "SUBSTRING("),
}


def test_every_statement_is_in_the_grammar_and_no_broken_one():
    broken = {f"broken: {name}": text for name, text in BROKEN_GRAMMAR.items()}
    assert all(text not in (GOOD, TRIGGER) for text in broken.values())
    # The grammar does not know this clause, which the manual has.
    known = {name: text.replace("(value RETURNING CLOB)", "(value)") for name, text in TEXTS.items()}
    found = plsql.errors(known | broken)
    assert found.keys() == broken.keys(), {name: found[name] for name in list(found.keys() - broken.keys())[:5]}


@pytest.mark.parametrize("name", OWN | EVERY_TYPE)
def test_names_are_declared_and_no_reserved_words(name):
    assert plsql.faults(TEXTS[name], COLUMNS) == []


def test_names_are_declared_in_triggers_of_tables_at_random():
    assert not {name: found for name, text in MADE.items() if (found := plsql.faults(text, COLUMNS))}


@pytest.mark.parametrize("fault", BROKEN_OTHERWISE)
def test_a_statement_with_a_fault_that_no_grammar_sees_is_found(fault):
    said = [one.lower() for one in plsql.faults(BROKEN_OTHERWISE[fault], COLUMNS)]
    assert any(fault.lower() in one for one in said), said


@pytest.mark.parametrize("name", OWN)
def test_a_file_names_the_page_of_the_manual(name):
    assert "Manual: " in sqlfiles.statement("oracle", name)
