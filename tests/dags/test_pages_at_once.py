"""A session that ends while a person works on a page, and two administrators who press at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from urllib.parse import quote

import pytest
import yaml
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from playwright.sync_api import expect
from support.browser import opened, shot
from support.pages import ours, token
from support.world import SOURCE

from sluice.store import replications

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
ZURICH = f"/replications/{SOURCE}/zurich"


@pytest.mark.full
def test_a_session_that_ends_meanwhile_changes_nothing_and_is_told(pages_world, people, address, tmp_path):
    url = f"http://127.0.0.1:{address}"
    # As it is an hour after its end.
    ended = get_auth_manager().generate_jwt(
        SimpleAuthManagerUser(username="eva", role="USER"), expiration_time_in_seconds=-3_600
    )
    with opened(url, viewport={"width": 1300, "height": 900}) as page:

        def holding(cookie: str) -> None:
            page.context.add_cookies([{"name": "_token", "value": quote(cookie), "url": url}])

        holding(token(people, "eva"))
        page.goto(f"/sluice{ZURICH}")
        banner = page.locator("#banner")
        expect(page.get_by_role("button", name="Standby")).to_be_enabled()
        holding(ended)
        page.get_by_role("button", name="Standby").click()
        expect(banner).to_contain_text("Your session has ended. Log in to Airflow")
        shot(page, tmp_path, "ended")
        assert pages_world.standing("zurich").dispatcher == "ACTIVE"
        # Somebody who logs in again, in another tab, goes on where they were.
        holding(token(people, "eva"))
        page.get_by_role("button", name="Standby").click()
        expect(banner).to_contain_text("Done: zurich is on standby")
        # A look that works again hides what the one before told, and nothing else.
        expect(page.get_by_role("button", name="Activate")).to_be_enabled()
        expect(banner).to_contain_text("Done: zurich is on standby")
        assert pages_world.standing("zurich").dispatcher == "STANDBY (ADMIN)"


def test_two_administrators_who_press_at_once_both_have_an_answer_that_is_true(pages_world, visit, address):
    world, store, pair = pages_world, pages_world.context.store, pages_world.pair("zurich")
    world.settings["pages"] = {"users": {"otto": "admin"}}
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    both = [(one, ours(one, address)) for one in (visit("admin"), visit("otto"))]
    ready = Barrier(len(both))

    def pressed(name: str) -> list[int]:
        def press(client, headers) -> int:
            ready.wait()
            answer = client.post(f"/api/v1{ZURICH}/{name}", headers=headers)
            assert answer.status_code in (200, 409), answer.text
            return answer.status_code

        with ThreadPoolExecutor(len(both)) as pool:
            return sorted(pool.map(lambda one: press(*one), both))

    assert pressed("standby") == [200, 200]
    (held,) = replications.holds(store, pair).values()
    assert held.actor in ("admin", "otto")
    assert pressed("activate") == [200, 200]
    assert (replications.holds(store, pair), world.standing("zurich").dispatcher) == ({}, "ACTIVE")
    begun = "INSERT INTO initial_update (source, state, run) VALUES ('flights', 'DUMPING', 'eva') RETURNING id"
    replications.request(store, [pair], world.session("control").execute(begun).fetchone()[0])
    assert pressed("cancel-update") == [200, 409]
    assert world.status("zurich") == "INCONSISTENT"
    cancelled = "SELECT count(*) FROM audit WHERE slave = 'zurich' AND event = 'cancel'"
    assert world.reader("control").execute(cancelled).fetchone() == (1,)
