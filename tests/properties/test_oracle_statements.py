"""Every statement for Oracle, and the triggers of 200 tables, are read by a parser of the grammar, and by a look of our
own. No server of Oracle is here: what neither sees, nobody has seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import oracle, oracle_slave, plsql

from sluice import sqlfiles

# The digests of all statements, each of which the parser has read without an error.
ACCEPTED = Path(__file__).parents[1] / "golden" / "oracle_grammar.txt"
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
ISSUED = oracle_slave.issued()
TEXTS = OWN | EVERY_TYPE | MADE | ISSUED
COLUMNS = plsql.columns_of(list(OWN.values()))
GOOD = oracle.composed("capture/install/180_note_ddl", **oracle.PARTS)
TRIGGER = MADE["0 1"]
# What was written wrong, by what finds it: a grammar, in small texts, since its parser looks at a wrong one for long.
PROCEDURE = """CREATE OR REPLACE PROCEDURE note(n_ NUMBER) IS
BEGIN
    IF n_ IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO noted (n, v) VALUES (n_, SUBSTRB('N', 1, 4));
END note;"""
COMPOUND = """CREATE OR REPLACE TRIGGER captured FOR INSERT ON t COMPOUND TRIGGER
    BEFORE STATEMENT IS BEGIN NULL; END BEFORE STATEMENT;
    AFTER EACH ROW IS BEGIN NULL; END AFTER EACH ROW;
END captured;"""
BROKEN_GRAMMAR = {
    "no THEN": PROCEDURE.replace("IS NULL THEN", "IS NULL"),
    "no END IF": PROCEDURE.replace("END IF;", ""),
    "no semicolon": PROCEDURE.replace("RETURN;", "RETURN"),
    "a bracket": PROCEDURE.replace("1, 4))", "1, 4)"),
    "no INTO": PROCEDURE.replace("INSERT INTO", "INSERT"),
    "a text that does not end": PROCEDURE.replace("'N'", "'N"),
    "no end of a section": COMPOUND.replace("END BEFORE STATEMENT;", "END;"),
    "a section that there is not": COMPOUND.replace("AFTER EACH ROW IS", "AFTER ALL ROWS IS"),
    "an event that there is not": COMPOUND.replace("COMPOUND TRIGGER", "COMPOUND TRIGGERS"),
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
    "writeappend counts otherwise": oracle.composed("capture/install/154_whole", **oracle.PARTS).replace(
        "APPEND(made, TO_CLOB(buffer))", "WRITEAPPEND(made, LENGTH(buffer), buffer)"
    ),
    "substring is not declared": GOOD.replace("SUBSTRB(", "SUBSTRING("),
}


def test_every_statement_is_in_the_grammar():
    """Reading all of them takes minutes: those that the parser has accepted before are known by their digests."""
    # The grammar does not know this clause, which the manual has.
    texts = [text.replace("(value RETURNING CLOB)", "(value)") for text in TEXTS.values()]
    digests, accepted = {plsql.digest(text): text for text in texts}, set(ACCEPTED.read_text().split())
    assert plsql.errors({text: text for one, text in digests.items() if one not in accepted}) == {}
    written = "\n".join(sorted(digests))
    assert accepted == digests.keys(), f"the grammar has all that is new: write this to {ACCEPTED.name}:\n{written}"


@pytest.mark.full
def test_no_broken_statement_is_in_the_grammar():
    good = {"a procedure": PROCEDURE, "a trigger": COMPOUND}
    assert all(text not in good.values() for text in BROKEN_GRAMMAR.values())
    assert plsql.errors(good | BROKEN_GRAMMAR).keys() == BROKEN_GRAMMAR.keys()


def test_names_are_declared_and_no_reserved_words():
    assert not {name: found for name, text in TEXTS.items() if (found := plsql.faults(text, COLUMNS))}


@pytest.mark.parametrize("fault", BROKEN_OTHERWISE)
def test_a_statement_with_a_fault_that_no_grammar_sees_is_found(fault):
    said = [one.lower() for one in plsql.faults(BROKEN_OTHERWISE[fault], COLUMNS)]
    assert any(fault.lower() in one for one in said), said


def test_a_file_names_the_page_of_the_manual():
    assert OWN
    assert not [name for name in OWN if "Manual: " not in sqlfiles.statement("oracle", name)]
