"""Commands that a person triggered in Airflow are carried out for those roles alone that the configuration names."""

from __future__ import annotations

import pytest
from support.world import SOURCE

from sluice.commands.roles import expect_allowed
from sluice.errors import SluiceError
from sluice.model.requester import Requester

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def world(build):
    return build("CREATE TABLE t (id int PRIMARY KEY)", ["public.t"])


def asks(world, roles, wanted=("op", "admin"), slaves=("zurich",), answered=""):
    world.configure(lambda settings: settings.update(command_roles=list(wanted)))
    expect_allowed(world.context, Requester("eva", roles, answered), SOURCE, slaves, "inhibit")


@pytest.mark.parametrize(
    ("roles", "wanted"),
    [(["op"], ["op", "admin"]), (["Viewer", "Admin"], ["op", "admin"]), (["Dba"], ["DBA"]), (["user"], [])],
    ids=["one of them", "one of several, with a capital", "one of their own", "whoever may trigger it"],
)
def test_who_has_such_a_role_is_let_in(world, roles, wanted):
    asks(world, roles, wanted)


@pytest.mark.parametrize(
    ("roles", "slaves", "answered", "code"),
    [
        (["user"], ("zurich",), "", "300: eva"),
        (["user"], (), "answer", "380: eva, who answered the question,"),
        ([], (), "", "300: eva"),
        ([], ("zurich",), "answer", "380: eva, who answered the question,"),
    ],
    ids=["asks for a slave", "answers for a source", "none, asks for a source", "none, answers for a slave"],
)
def test_who_has_none_is_refused_and_the_audit_trail_says_so(world, roles, slaves, answered, code):
    with pytest.raises(SluiceError, match=rf"SLC-{code} has .* and inhibit needs one of these: op, admin") as refused:
        asks(world, roles, slaves=slaves, answered=answered)
    assert ("clear the task `answer`" in refused.value.hint) is bool(answered)
    said = world.reader("control").execute(
        "SELECT source, slave, actor, detail LIKE 'inhibit: eva% has%' FROM audit WHERE event = 'refused'"
    )
    assert said.fetchall() == [(SOURCE, slaves[0] if slaves else None, "eva", True)]
