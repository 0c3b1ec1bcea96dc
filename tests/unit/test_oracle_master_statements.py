"""Statements for every node on an Oracle master: one transaction, of which the statement alone is left to send."""

from __future__ import annotations

import pytest
from support.oracle_session import PARTS, TABLE, catalog_of, refusal, registered, source

from sluice.changelog.schema import NO_LAYOUT
from sluice.errors import SluiceError
from sluice.model.statement import UNPLACED, Statement, TransactionOutcome, TransactionRef
from sluice.vendors.oracle.catalog.recorded import layout_of
from sluice.vendors.oracle.statements import master

UPDATE = 'UPDATE "T" SET "V" = \'b\' WHERE "ID" > 1'
DONE = 'UPDATE "APP"."T" SET "V" = \'b\' WHERE ("ID" > 1)'
AT_REST = {
    "capture__registry__registered": registered(TABLE),
    "catalog__character_set": [("AL32UTF8",)],
    "capture__statements__beside": [],
    "capture__statements__touched": [(7,)],
    "write__transaction": [("1.2.3",)],
    **catalog_of(TABLE),
}


def issued(monkeypatch, sql, **answers):
    """The session that executed a statement, what was sent, and when the control store was told."""
    session, capture, _ = source(monkeypatch, **{**AT_REST, **answers})
    session.answers[DONE] = 3
    monkeypatch.setattr(master, "connect", lambda info, application: session)
    told = []

    def commits(done, traced):
        told.append((done, traced, len(session.said)))

    capture.issue(Statement(17, sql, "APP", reads=False, max_rows=2), commits, varying=False)
    return session, *told[0]


def test_a_statement_travels_in_place_of_its_rows_and_its_place_is_drawn_last(monkeypatch):
    session, done, traced, at = issued(monkeypatch, UPDATE)
    order = [
        "LOCK TABLE",
        DONE,
        "capture/statements/touched",
        f"DELETE FROM {PARTS['items']}",
        f"INSERT INTO {PARTS['items']}",
    ]
    places = [next(at for at, one in enumerate(session.said) if one.startswith(step)) for step in order]
    assert places == sorted(places)
    assert 'LOCK TABLE "APP"."T" IN EXCLUSIVE MODE WAIT 5' in session.said
    # The control store knows of the commit before it comes.
    assert session.said[at] == "COMMIT"
    assert session.said[places[0] : at].count("COMMIT") == 0
    (sent,) = [given for given in session.given if given and "content" in given]
    assert Statement.from_json(sent["content"]) == done
    assert (done.answer.count, done.reads, done.table) == (3, False, layout_of(TABLE))
    assert traced == TransactionRef(17, done.token, "INC")
    assert done.token.startswith(UNPLACED)


def test_a_query_has_the_texts_of_the_log_and_keeps_writers_out(monkeypatch):
    number = "TO_CHAR(source.\"ID\", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')"
    asked = f'SELECT {number} AS "C0", source."V" AS "C1" FROM "APP"."T" source'
    rows = {"capture__statements__touched": []}
    session, capture, _ = source(monkeypatch, **{**AT_REST, **rows})
    session.answers[asked] = [("1", "a"), ("2", None), ("3", "c")]
    monkeypatch.setattr(master, "connect", lambda info, application: session)
    told = []
    statement = Statement(17, 'SELECT "ID", "V" FROM "T"', "APP", reads=False, max_rows=2)
    capture.issue(statement, lambda done, traced: told.append(done), varying=False)
    (answer,) = [one.answer for one in told if one.reads]
    assert (answer.columns, answer.rows, answer.more) == (("ID", "V"), (("1", "a"), ("2", None)), True)
    assert 'LOCK TABLE "APP"."T" IN SHARE MODE WAIT 5' in session.said


@pytest.mark.parametrize(
    ("sql", "answers", "code"),
    [
        ('UPDATE "T" SET "V" = \'\'', {}, 577),
        ('UPDATE "T" SET "V" = "V" || \'b\'', {}, 577),
        ('UPDATE "T" SET "V" = \'\u20ac\'', {"catalog__character_set": [("WE8ISO8859P1",)]}, 577),
        (UPDATE, {"capture__registry__registered": registered(TABLE, 30, lost="Y")}, 577),
        (UPDATE, {"capture__registry__registered": []}, 577),
        (UPDATE, {"capture__statements__beside": [("the trigger AUDIT_T",)]}, 578),
        (UPDATE, {"capture__statements__touched": [(7,), (8,)]}, 578),
        (UPDATE, {"capture__statements__touched": refusal("ORA-00060: deadlock detected")}, 34),
    ],
)
def test_a_statement_that_would_do_something_else_elsewhere_is_rolled_back(monkeypatch, sql, answers, code):
    with pytest.raises(SluiceError) as error:
        issued(monkeypatch, sql, **answers)
    assert error.value.code == code


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("ORA-30006: resource busy", 107),
        ("ORA-01031: insufficient privileges", 33),
        ("ORA-02290: check constraint violated", 105),
        ("ORA-03113: end-of-file on communication channel", 30),
    ],
)
def test_an_error_of_the_server_rolls_it_back(monkeypatch, said, code):
    session, capture, _ = source(monkeypatch, **AT_REST)
    session.answers[DONE] = refusal(said)
    monkeypatch.setattr(master, "connect", lambda info, application: session)
    with pytest.raises(SluiceError) as error:
        capture.issue(Statement(17, UPDATE, "APP", reads=False, max_rows=2), None, varying=False)
    assert error.value.code == code
    assert session.said[-2:] == ["ROLLBACK", "CLOSE"]


@pytest.mark.parametrize(
    ("held", "incarnation", "outcome"),
    [
        ([("Y",)], "INC", TransactionOutcome.COMMITTED),
        ([("N",)], "INC", TransactionOutcome.ROLLED_BACK),
        ([], None, TransactionOutcome.ROLLED_BACK),
        (refusal("ORA-00054: resource busy"), "INC", TransactionOutcome.RUNNING),
        (refusal("ORA-00942: no such table"), "INC", TransactionOutcome.ROLLED_BACK),
        ([("Y",)], "ANOTHER", TransactionOutcome.UNKNOWN),
    ],
)
def test_a_record_tells_what_became_of_a_commit(monkeypatch, held, incarnation, outcome):
    session, capture, _ = source(monkeypatch, capture__statements__hold=held)
    monkeypatch.setattr(master, "connect", lambda info, application: session)
    assert capture.fate(TransactionRef(17, "token x", incarnation), end=True) is outcome


@pytest.mark.parametrize(("first", "trans_key"), [([], "900/1.2.3"), ([(850,)], "850/1.2.3")])
def test_a_statement_is_sent_at_its_place_and_known_again_if_it_is_swept_again(monkeypatch, first, trans_key):
    text = Statement(17, UPDATE, "APP", reads=False, max_rows=2).to_json()
    rows = [
        (61, "1.2.3", 61, 0, "STATEMENT", None, text, None),
        (62, "1.2.4", 62, 0, "STATEMENT", None, "forged", None),
    ]
    session, capture, _ = source(monkeypatch, capture__queue__sweep=rows, capture__statements__swept=first)
    with capture.sweep(3, None) as sweep:
        (batch,) = sweep.batches()
    row, forged = batch.to_pylist()
    assert (row["action"], row["layout"], row["new"], row["trans_key"]) == ("S", NO_LAYOUT, [text], trans_key)
    assert (forged["action"], forged["trans_key"]) == ("S", "900/1.2.4")
    placed = [given for given in session.given if given == {"id": 17, "scn": 900}]
    assert len(placed) == (not first)
