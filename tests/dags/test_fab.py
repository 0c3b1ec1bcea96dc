"""The pages in an Airflow whose users are FAB's: their roles, their names, and their browsers."""

from __future__ import annotations

import httpx
import pytest
import yaml
from playwright.sync_api import expect
from support.auth_managers import expected, let_airflow_decide, try_to_cancel
from support.browser import opened, quiet, ready, shot
from support.login_airflow import PASSWORD, log_in, serve
from support.world import SOURCE

pytestmark = [pytest.mark.full, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
ZURICH = f"/replications/{SOURCE}/zurich"
MANAGER = "airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager"
PEOPLE = {"paul": "Public", "vera": "Viewer", "eva": "User", "otto": "Viewer+Op", "anna": "Admin", "fred": "Viewer"}


@pytest.fixture
def fab(pages_world, tmp_path):
    """The port of its API server."""
    pages_world.settings["pages"] = {"users": {"fred": "initiator"}}
    (pages_world.path / "replication.yaml").write_text(yaml.safe_dump(pages_world.settings))
    people = (f"{who}={roles}" for who, roles in PEOPLE.items())
    with serve(pages_world, tmp_path / "fab", MANAGER, *people) as port:
        yield port


def test_people_have_the_rights_of_their_roles_in_fab(pages_world, fab, tmp_path):
    url = f"http://127.0.0.1:{fab}"
    assert httpx.get(f"{url}/sluice/", timeout=120).status_code == 401
    clients = {who: log_in(fab, who) for who in PEOPLE}

    def asked(path: str, method: str = "GET") -> str:
        return " ".join(who for who, one in clients.items() if one.request(method, path).status_code == 200)

    assert asked("/sluice/") == asked("/sluice/api/v1/replications") == "eva otto anna fred"
    assert asked("/sluice/initial-update") == "otto anna fred"
    assert asked("/sluice/audit") == "anna"
    # Without this right the entry of the navigation is missing.
    assert asked("/api/v2/plugins") == "eva otto anna"
    assert asked(f"/sluice/api/v1{ZURICH}/standby", "POST") == "eva otto anna"
    answer = clients["otto"].post("/sluice/api/v1/initial-updates", json={"source": SOURCE, "slaves": ["geneva"]})
    dag, _, run = answer.json()["run"].partition("/")
    begun = clients["anna"].get(f"/api/v2/dags/{dag}/dagRuns/{run}").json()
    assert begun["triggering_user_name"] == "otto"
    trail = "SELECT actor FROM audit WHERE event = 'refused' ORDER BY id"
    assert pages_world.reader("control").execute(trail).fetchall() == [("paul",), ("vera",)]

    with opened(url, viewport={"width": 1300, "height": 900}) as page:
        page.goto("/auth/login/")
        page.get_by_label("Username").fill("eva")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign In").click()
        page.wait_for_url(f"{url}/")
        page.get_by_role("button", name="Browse").click()
        page.get_by_role("menuitem", name="Replications").click()
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("for eva (user)")).to_be_visible()
        shot(page, tmp_path, "list")
        with quiet(page, url, "/sluice/"):
            frame.get_by_role("link", name="zurich").click()
            expect(frame.get_by_role("heading", level=1)).to_contain_text("zurich")
            ready(frame)
            frame.get_by_role("button", name="Activate", exact=True).click()
            expect(frame.locator("#banner")).to_contain_text("zurich is active")
        shot(page, tmp_path, "active")


def test_airflow_is_asked_whom_fab_lets_trigger_a_command(pages_world, fab):
    let_airflow_decide(pages_world, **dict.fromkeys(PEOPLE, "admin"))
    tokens = {who: log_in(fab, who).headers["Authorization"].removeprefix("Bearer ") for who in PEOPLE}
    assert try_to_cancel(fab, tokens) == expected(allowed="eva otto anna", refused="paul vera fred")
