"""Data that was carried by hand is in: changes follow by themselves, or when an administrator says so."""

from __future__ import annotations

import pytest
from support.carrying import ROWS, TABLES
from support.updating import load_here
from support.world import SOURCE, result

from sluice.errors import SluiceError
from sluice.initial_update.cancel import cancel
from sluice.initial_update.files.receive import expected_files, receive
from sluice.initial_update.release import release
from sluice.state.replication import Status

pytestmark = [pytest.mark.postgres]


@pytest.fixture
def asking(carried):
    """A world of which zurich waits for its data, and then for an administrator."""
    made = carried(ROWS, TABLES)
    made.world.configure(
        lambda settings: settings["slaves"]["zurich"]["initial_files"].update(reactivation="approval", keep=False)
    )
    made.store()
    return made


def load(asking):
    return receive(asking.world.context, SOURCE, "zurich", load_here)


@pytest.mark.full
def test_a_slave_that_is_loaded_waits_for_an_administrator_and_goes_on_when_one_says_so(asking, monkeypatch):
    world = asking.world
    copy = asking.carry("zurich")
    world.master.execute("DELETE FROM rows WHERE id < 100")
    world.publish()
    asked = load(asking)
    rows = world.rows("zurich", "public.rows").total() + world.rows("zurich", "public.others").total()
    assert (asked["ask"], asked["rows"], rows) == (True, 3401, 3401)
    assert asked["subject"] == f"Let changes of {SOURCE} go on to zurich"
    for told in (
        "**zurich**",
        SOURCE,
        str(copy),
        "rows: 3,401",
        "follow: 0/0",
        "log: 1 transactions, the oldest for 0:",
    ):
        assert told in asked["body"]
    asking.world.release("zurich")
    now = world.standing()
    assert (now.status, now.dispatcher, world.drain("zurich")["changes"]) == (Status.TRANSITION, "STANDBY (INITIAL)", 0)
    assert "Manual Data transfer: LOADED (3,401 rows" in now.why
    assert world.verify("zurich", initial=True) == {}, "it is not compared before it goes on"

    assert expected_files(world.context, SOURCE, "zurich")["files"] == 0
    again = load(asking)
    assert (again["ask"], again["rows"], again["chunks"], again["update"]) == (True, 3401, 0, asked["update"])
    monkeypatch.setenv("SLUICE_RUN", "receive_initial_files/another/release/1")
    for answered, released in (([], []), (["Leave it waiting"], []), (["Release"], ["zurich"])):
        said = [f"--approved={asked['update']}", "--who=eva", *(f"--answer={one}" for one in answered)]
        assert result(world.job("release", "--slave=zurich", *said)) == {"released": released}
    assert world.standing().dispatcher == "ACTIVE"
    audit = "SELECT detail FROM audit WHERE event = 'activate'"
    assert world.reader("control").execute(audit).fetchall() == [("INITIAL: the initial data is in, and eva approved",)]
    world.catch_up()
    assert world.verify("zurich", initial=True) == {"zurich": 0}
    assert world.status("zurich") is Status.NORMAL
    with pytest.raises(SluiceError, match=r"SLC-172: .*waits for no files"):
        load(asking)


@pytest.mark.full
def test_what_is_loaded_and_waits_is_not_thrown_away_by_the_next_update_but_can_be(asking):
    world = asking.world
    asking.carry("zurich")
    earlier = load(asking)["update"]
    with pytest.raises(SluiceError, match="SLC-020: initial data was carried to slave zurich"):
        asking.store("zurich")
    asking.store("zurich", force=True)
    asking.carry("zurich")
    later = load(asking)["update"]
    assert release(world.context, SOURCE, ["zurich"], earlier, "eva") == {"released": []}, "that was another one"
    assert release(world.context, SOURCE, ["zurich"], later, "eva") == {"released": ["zurich"]}
    world.catch_up()
    assert world.verify("zurich", initial=True) == {"zurich": 0}


@pytest.mark.full
def test_what_is_loaded_and_waits_can_be_cancelled(asking):
    asking.carry("zurich")
    update = load(asking)["update"]
    cancel(asking.world.context, SOURCE, ["zurich"])
    assert release(asking.world.context, SOURCE, ["zurich"], update, "eva") == {"released": []}
    assert asking.world.status("zurich") is Status.INCONSISTENT


@pytest.mark.full
def test_nobody_is_asked_by_default_and_a_release_that_was_missed_is_made_up_for(carried):
    carried = carried(ROWS, TABLES)
    world = carried.world
    carried.store()
    carried.carry("geneva")
    receive(world.context, SOURCE, "geneva", load_here)
    assert expected_files(world.context, SOURCE, "geneva")["files"] == 0
    done = carried.receive("geneva")
    assert (done["ask"], done["chunks"]) == (False, 0)
    world.catch_up()
    assert world.verify("geneva", initial=True) == {"geneva": 0}
