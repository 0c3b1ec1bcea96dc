"""The pages and commands in an Airflow whose users are Keycloak's, which a server of the tests plays."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect
from support import browser, openid_server
from support.auth_managers import expected, let_airflow_decide, try_to_cancel
from support.login_airflow import PASSWORD, log_in, serve
from support.openid_server import REALM

pytestmark = [pytest.mark.full, pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]

MANAGER = "airflow.providers.keycloak.auth_manager.keycloak_auth_manager.KeycloakAuthManager"
SEES = {"Dag#GET", "Dag#LIST", "View#GET", "Custom#GET", "Asset#MENU", "Dags#MENU", "Browse#MENU"}
RIGHTS = {
    "anna": SEES | {"Dag#POST", "Dag#PUT"},
    "carl": SEES | {"Dag#POST cancel_update RUN"},
    "vera": SEES,
}


@pytest.fixture
def keycloak(pages_world, tmp_path):
    """The port of its API server."""
    let_airflow_decide(pages_world, **dict.fromkeys(RIGHTS, "admin"))
    with openid_server.serve(RIGHTS, PASSWORD, browser="anna") as address:
        settings = {"SERVER_URL": address, "REALM": REALM, "CLIENT_ID": "airflow", "CLIENT_SECRET": "canary-of-client"}
        env = {f"AIRFLOW__KEYCLOAK_AUTH_MANAGER__{name}": value for name, value in settings.items()}
        base = {"AIRFLOW__API__BASE_URL": "http://127.0.0.1:{port}"}
        with serve(pages_world, tmp_path / "keycloak", MANAGER, **env, **base) as port:
            yield port


def test_keycloak_is_asked_who_may_trigger_a_command_and_a_browser_comes_in_by_its_login(keycloak, tmp_path):
    url = f"http://127.0.0.1:{keycloak}"
    assert httpx.get(f"{url}/sluice/", timeout=120).status_code == 401
    tokens = {who: log_in(keycloak, who).headers["Authorization"].removeprefix("Bearer ") for who in RIGHTS}
    assert try_to_cancel(keycloak, tokens) == expected(allowed="anna carl", refused="vera")

    with browser.opened(url, viewport={"width": 1300, "height": 900}) as page:
        page.goto("/auth/login")
        page.wait_for_url(f"{url}/")
        page.goto("/sluice/")
        expect(page.get_by_text("for anna (admin)")).to_be_visible()
        with browser.quiet(page, url, "/sluice/"):
            page.get_by_role("link", name="zurich").click()
            browser.ready(page)
            page.get_by_role("button", name="Standby", exact=True).click()
            expect(page.locator("#banner")).to_contain_text("zurich")
        browser.shot(page, tmp_path, "standby")
