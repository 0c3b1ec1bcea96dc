"""The roles of the pages, and how they word what others wrote."""

from __future__ import annotations

import pytest
from markupsafe import Markup
from pydantic import ValidationError

from sluice.config.pages import Pages
from sluice.model.access import DagRight, Right, Role, role_by_dags, role_of
from sluice.pages import template_filters
from sluice.pages.template_filters import Note, Task


@pytest.mark.parametrize(
    ("user", "theirs", "role"),
    [
        ("eva", ["User"], Role.USER),
        ("eva", ["viewer", "OP", "user"], Role.INITIATOR),
        ("eva", ["Admin"], Role.ADMIN),
        ("eva", ["viewer"], None),
        ("eva", [], None),
        ("fred", ["admin"], Role.USER),
    ],
)
def test_the_most_powerful_role_counts_and_a_user_of_the_configuration_has_theirs(user, theirs, role):
    pages = Pages(users={"fred": Role.USER})
    assert role_of(user, theirs, pages.roles, pages.users) is role


@pytest.mark.parametrize(
    ("granted", "role"),
    [
        ([], None),
        (["verify trigger", "administer read", "administer edit"], None),
        (["initial_update read"], Role.VIEWER),
        (["initial_update read", "initial_update edit"], Role.USER),
        (["initial_update trigger"], Role.INITIATOR),
        (["administer trigger"], Role.ADMIN),
    ],
)
def test_what_airflow_lets_a_person_do_with_our_dags_is_a_role(granted, role):
    assert role_by_dags(lambda dag, right: f"{dag} {DagRight(right)}" in granted) is role


def test_each_role_has_the_rights_of_those_before_it():
    assert Role.VIEWER.rights == {Right.READ}
    assert Role.USER.rights == {Right.READ, Right.SWITCH}
    assert Role.INITIATOR.rights == {Right.READ, Right.SWITCH, Right.FILL, Right.COMPARE}
    assert Role.ADMIN.rights == set(Right)


def test_words_of_a_deployment_take_the_place_of_ours_and_a_blank_one_is_refused():
    ours, theirs = Pages().words, Pages(texts={"holdback": " Rückstand "}).words
    assert (ours["holdback"], ours["dispatcher"], ours["remove_first"]) == (
        "Holdback",
        "Active / Standby",
        "Remove first",
    )
    assert theirs == ours | {"holdback": "Rückstand"}
    for wrong in (
        {"texts": {"holdback": " "}},
        {"texts": {"colour": "x"}},
        {"names": {"zurich": ""}},
        {"form": ["all"]},
    ):
        with pytest.raises(ValidationError):
            Pages.model_validate(wrong)


@pytest.mark.parametrize(
    ("seconds", "age"),
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (90, "1 min 30 s"), (3_600, "1 h"), (93_600, "1 d 2 h")],
)
def test_an_age_is_told_in_two_words_at_most(seconds, age):
    assert template_filters.age(seconds) == age


def test_a_note_has_its_facts_and_its_hint():
    text = "STANDBY: an error\nSLC-120: no\nHINT: fix it\n  and this\nleft out\nHINT: fill it\nworth knowing"
    assert template_filters.notes(text) == [
        Note("STANDBY: an error\nSLC-120: no", "fix it\n  and this"),
        Note("left out", "fill it"),
        Note("worth knowing", ""),
    ]
    assert template_filters.notes("") == []


def test_a_job_is_told_from_a_person():
    assert template_filters.task("verify/manual__1+00:00/verify/1") == Task("verify", "manual__1+00:00", "verify")
    assert template_filters.task("d/a/b/t/2") == Task("d", "a/b", "t")
    assert [template_filters.task(one) for one in ("eva", "a/b", "a/b/c/d", "")] == [None] * 4


def test_what_hides_text_is_shown_and_what_we_wrote_stays():
    assert template_filters.visible("a\x1b[2J\u202eb\n") == "a\\x1b[2J\\u202eb\n"
    assert template_filters.visible(Markup("<b>")) == "<b>"
