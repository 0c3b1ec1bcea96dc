"""The page of health, and the same by REST: what is wrong, and what to type, also without a control store."""

from __future__ import annotations

import os
import re
import socket
import time

import pytest
import yaml
from playwright.sync_api import expect
from support.browser import fits, opened, shot
from support.pages import CANARY, ours, token
from support.waiting import until

from sluice.connections import ConnectionInfo

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
HOSTILE = "<script>alert(1)</script>'; DROP TABLE audit; --"


def told(world) -> None:
    """The API server sees other connections at once where the file is another one."""
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings) + f"\n# {time.monotonic()}\n")


def report(client):
    """The health, once it has been looked for."""

    def ended():
        found = client.get("/api/v1/health").json()
        return None if found["under_way"] else found

    return {one["subject"]: one for one in until(ended, seconds=60)["looked"]}


@pytest.mark.full
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_person_sees_what_is_wrong_and_what_to_type(
    pages_world, people, visit, address, connect, tmp_path_factory, theme
):
    world, url = pages_world, f"http://127.0.0.1:{address}"
    zurich = world.infos["zurich"]
    own = {"host": zurich.host, "port": zurich.port, "schema": HOSTILE, "login": zurich.login}
    connect("zurich", conn_type="postgres", **own, password=zurich.password)
    told(world)
    pictures = tmp_path_factory.mktemp(theme)
    with opened(url, viewport={"width": 1300, "height": 700}, color_scheme=theme) as page:
        page.context.add_cookies([{"name": "_token", "value": token(people, "eva"), "url": url}])
        page.goto("/sluice/")
        page.get_by_role("link", name="Health", exact=True).click()
        shot(page, pictures, "begun")
        wrong = page.locator("section", has=page.get_by_role("heading", name=re.compile("Wrong")))
        lost = wrong.get_by_role("listitem").filter(has_text="slave zurich")
        expect(lost).to_contain_text(f'database "{HOSTILE}" does not exist')
        expect(lost).to_contain_text("What to do")
        well = page.locator("section", has=page.get_by_role("heading", name=re.compile("Well")))
        expect(well.get_by_role("listitem").filter(has_text="slave geneva")).to_contain_text("answers")
        again = page.get_by_role("button", name="Check again")
        expect(again).to_be_enabled()
        shot(page, pictures, "wide")
        # Whoever fixes it sees at once that it is fixed.
        connect("zurich", conn_type="postgres", **own | {"schema": zurich.database}, password=zurich.password)
        told(world)
        again.click()
        expect(page.locator("#banner")).to_contain_text("looked at")
        expect(well.get_by_role("listitem").filter(has_text="slave zurich")).to_contain_text("answers")
        page.set_viewport_size({"width": 360, "height": 800})
        fits(page)
        shot(page, pictures, "narrow")
    assert CANARY not in (seen := visit("eva").get("/health").text)
    # Another worker of an API server has findings of its own.
    assert f"{socket.gethostname()}, process {os.getpid()}" in seen
    # A round that a refresh of the page had begun is nobody's.
    client = visit("eva")
    report(client)
    assert (
        client.post("/api/v1/health", headers=ours(client, address)).json()["done"] == "everything is being looked at"
    )
    told_of = world.reader("control").execute("SELECT actor FROM audit WHERE event = 'check'").fetchall()
    assert set(told_of) == {("eva",)}


def test_a_control_store_that_is_away_is_told_by_the_page_which_recovers(pages_world, visit, address, connect):
    world, client = pages_world, visit("eva")
    control = world.infos["control"]

    def lead(info: ConnectionInfo, port: int) -> None:
        own = {"schema": info.database, "login": info.login, "password": info.password}
        connect("control", conn_type="postgres", host=info.host, port=port, **own)
        told(world)

    lead(control, 1)
    broken = client.get("/")
    assert (broken.status_code, 'href="/sluice/health"' in broken.text) == (503, True)
    found = report(client)
    assert (found["control store"]["state"], found["control store"]["fact"][:7]) == ("wrong", "SLC-060")
    assert found["source flights"]["state"] == "well"
    assert client.get("/health").status_code == 200
    # Nothing can be written down, and it is looked at again all the same.
    again = client.post("/api/v1/health", headers=ours(client, address))
    assert (again.status_code, again.json()["done"]) == (200, "everything is being looked at")
    lead(control, control.port)
    assert report(client)["control store"]["state"] == "well"
