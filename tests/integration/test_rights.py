"""Commands that a person triggered in Airflow are carried out for those roles alone that the configuration names."""

from __future__ import annotations

from itertools import product

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


# One of them; one of several, with a capital; one of their own; whoever may trigger it.
LET_IN = [(["op"], ["op", "admin"]), (["Viewer", "Admin"], ["op", "admin"]), (["Dba"], ["DBA"]), (["user"], [])]


def test_who_has_such_a_role_is_let_in(world):
    for roles, wanted in LET_IN:
        asks(world, roles, wanted)


def test_who_has_none_is_refused_and_the_audit_trail_says_so(world):
    codes, told = {"": "300: eva", "answer": "380: eva, who answered the question,"}, []
    for roles, slaves, answered in product((["user"], []), (("zurich",), ()), codes):
        needs = rf"SLC-{codes[answered]} has .* and inhibit needs one of these: op, admin"
        with pytest.raises(SluiceError, match=needs) as refused:
            asks(world, roles, slaves=slaves, answered=answered)
        assert ("clear the task `answer`" in refused.value.hint) is bool(answered)
        told.append((SOURCE, slaves[0] if slaves else None, "eva", True))
        said = world.reader("control").execute(
            "SELECT source, slave, actor, detail LIKE 'inhibit: eva% has%' FROM audit"
            " WHERE event = 'refused' ORDER BY id"
        )
        assert said.fetchall() == told
