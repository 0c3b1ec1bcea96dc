"""The pages of comparisons: the list, and rows of master and slave side by side, for those who may see them."""

from __future__ import annotations

import io

import pyarrow.parquet as pq
import pytest
import yaml
from playwright.sync_api import expect
from support.browser import TriggerForm, fits, opened, quiet, ready, shot
from support.pages import compared, ours, token
from support.world import SOURCE

from sluice.model.row_difference import FIRST_KEYS, RowDifference
from sluice.state.replication import ReplicationEvent
from sluice.store import replications

pytestmark = [pytest.mark.airflow, pytest.mark.postgres, pytest.mark.slow]
HOSTILE = "<script>alert(1)</script>"
SECRET = "gate 4711"
ODD = [
    RowDifference("changed", (HOSTILE,), ("note",), (HOSTILE, SECRET), (HOSTILE, "<img src=x onerror=alert(1)>")),
    *(RowDifference("missing", (f"k{number}",), (), (f"k{number}", None)) for number in range(1, 60)),
]
KINDS = ("json", "parquet")
BOUND = {"confidence": 0.99, "below": 0.0021}
SAMPLED = "sample of 10 % of the keys: with 99 % confidence fewer than 1 row in 476 differs"
CHANGED = {"keys": 1200, "since": "41/8"}
WITHIN = [[["2013", "1"], ["2013", "12"]], [["it's"], None]]
SHOWN = "2 ranges of keys: 2013, 1 .. 2013, 12; 'it''s' .."
REPORT = f"/comparisons/{SOURCE}/zurich/4711"


@pytest.fixture
def world(pages_world):
    """A comparison that found nothing, and a newer one that found much."""
    compared(pages_world, "geneva", 4700, rows=(), percent=10, bound=BOUND)
    points = [[2, 9, 6, "2026-11-27T04:00:00+00:00"], [3, 17, 2, ""]]
    compared(pages_world, "geneva", 4701, within=WITHIN, points=points)
    compared(pages_world, "zurich", 4711, rows=ODD, more=7, only=CHANGED)
    return pages_world


def tick_rows(page, pictures):
    """Choose rows with the keyboard alone, and come to a form that has these and no others."""
    everything, button = page.get_by_role("checkbox", name="all shown"), page.get_by_role("button", name="Repair")
    expect(button).to_be_disabled()
    everything.focus()
    page.keyboard.press("Space")
    expect(button).to_have_text("Repair 50 chosen rows …")
    page.keyboard.press("Space")
    expect(button).to_be_disabled()
    for _ in range(2):
        # Past the region of the rows, which scrolls, to the first row and the second one.
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(everything).to_have_js_property("indeterminate", True)
    shot(page, pictures, "ticked")
    button.press("Enter")
    expect(page.get_by_label("Numbers")).to_have_value("1, 3")
    expect(page.get_by_text("2 of 67 rows")).to_be_visible()
    shot(page, pictures, "chosen")
    page.get_by_role("button", name="Repair").click()
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text("Only rows 1, 3 of this comparison. Changed rows are given the master's values.")
    shot(page, pictures, "chosen-question")
    asked.get_by_role("button", name="No, go back").click()
    page.get_by_role("link", name="Cancel").click()


def choose_a_rule(page, world, pictures):
    """Both databases are masters of each other from now on; the source's rows win unless somebody chooses."""
    at_once, tables = {"block_loop": True}, world.settings["sources"][SOURCE]["tables"]
    world.settings["sources"]["back"] = {"connection": "zurich", "tables": tables}
    world.settings["slaves"]["front"] = {"connection": "master"}
    world.settings["replications"][0] |= at_once
    world.settings["replications"].append({"source": "back", "slave": "front", **at_once})
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    page.reload()
    rule, asked = page.get_by_label("Rule"), page.get_by_role("dialog")
    column = page.get_by_role("textbox", name="Column")
    expect(rule).to_have_value("source")
    expect(rule.locator("option")).to_have_count(3)
    expect(column).to_be_hidden()
    page.get_by_role("checkbox", name="missing").uncheck()
    page.get_by_role("checkbox", name="extra").uncheck()
    rule.select_option("slave")
    expect(page.get_by_text("to be deleted")).to_be_hidden()
    page.get_by_role("button", name="Repair").click()
    expect(asked).to_contain_text("Make rows of flights those of zurich? Only rows of the chosen kinds.")
    asked.get_by_role("button", name="No, go back").click()
    rule.select_option("newest")
    page.get_by_role("button", name="Repair").click()
    expect(asked).to_be_hidden()
    column.fill("changed at")
    shot(page, pictures, "rule")
    page.get_by_role("button", name="Repair").click()
    expect(asked).to_contain_text("Where flights and zurich differ, write the newer row over the older one?")
    shot(page, pictures, "rule-question")
    asked.get_by_role("button", name="No, go back").click()


@pytest.mark.full
def test_an_administrator_sees_rows_side_by_side_and_others_where_they_are(world, people, visit, address, tmp_path):
    url = f"http://127.0.0.1:{address}"
    with opened(url, viewport={"width": 1300, "height": 900}) as page:
        with quiet(page, url):
            page.context.add_cookies([{"name": "_token", "value": token(people, "admin"), "url": url}])
            page.goto("/sluice/")
            page.get_by_role("link", name="Comparisons", exact=True).click()
            row = page.get_by_role("row").filter(has_text="4711")
            expect(row).to_contain_text("67 rows differ")
            expect(row).to_contain_text("rows changed since 41/8: 2,400 keys")
            expect(page.get_by_role("row").filter(has_text="4700")).to_contain_text(SAMPLED)
            shot(page, tmp_path, "list")
            page.get_by_label("Slave").select_option("geneva")
            expect(row).to_have_count(0)
            page.get_by_role("link", name="4700").click()
            expect(page.get_by_role("row").filter(has_text="public.u")).to_contain_text(SAMPLED)
            shot(page, tmp_path, "sample")
            page.goto(f"/sluice/comparisons/{SOURCE}/geneva/4701")
            expect(page.get_by_text("4 ranges of keys")).to_be_visible()
            expect(page.get_by_role("row").filter(has_text="public.u")).to_contain_text(SHOWN)
            expect(page.locator(".counts")).to_contain_text("at position 3/17")
            expect(page.locator(".counts")).to_contain_text("12 of 16 parts at 2/9")
            expect(page.get_by_role("row").filter(has_text="public.u")).to_contain_text("2/9: 6 parts; 3/17: 2 parts")
            shot(page, tmp_path, "ranges")
            page.get_by_role("link", name="Repair …").click()
            expect(page.get_by_text("compared again, within the same ranges of keys")).to_be_visible()
            page.goto(f"/sluice/comparisons/{SOURCE}")
            page.get_by_role("link", name="4711").click()
            expect(page.locator("tbody.is-changed").get_by_role("cell")).to_have_text(
                ["note", SECRET, "<img src=x onerror=alert(1)>"]
            )
            expect(page.locator("tbody.is-changed").get_by_role("rowheader")).to_contain_text(f"id {HOSTILE}")
            expect(page.locator("tbody.is-missing").first).to_contain_text("id k1")
            expect(page.locator("tbody.is-missing")).to_have_count(49)
            page.get_by_role("link", name="Next").click()
            expect(page.locator("tbody.is-missing")).to_have_count(10)
            expect(page.get_by_role("link", name="Next")).to_have_count(0)
            page.get_by_role("link", name="First").click()
            expect(page.get_by_role("row").filter(has_text="public.u")).to_contain_text("since 41/8: 1,200 keys")
            tick_rows(page, tmp_path)
            page.goto(f"/sluice{REPORT}")
            page.get_by_role("link", name="Repair …").click()
            expect(page.get_by_role("checkbox", name="public.t")).to_be_checked()
            ready(page)
            page.get_by_role("checkbox", name="missing").uncheck()
            page.get_by_role("checkbox", name="extra").uncheck()
            page.get_by_role("checkbox", name="changed").uncheck()
            page.get_by_role("button", name="Repair").click()
            expect(page.locator("#banner")).to_contain_text("Choose at least one of the kinds")
            page.get_by_role("checkbox", name="changed").check()
            expect(page.get_by_text("keeps 60 of 67 rows")).to_be_visible()
            shot(page, tmp_path, "repair")
            page.set_viewport_size({"width": 360, "height": 800})
            fits(page)
            page.get_by_role("button", name="Repair").click()
            asked = page.get_by_role("dialog")
            expect(asked).to_contain_text("Changed rows are given the master's values.")
            expect(asked).not_to_contain_text("deleted")
            shot(page, tmp_path, "question")
            asked.get_by_role("button", name="No, go back").click()
            choose_a_rule(page, world, tmp_path)
            page.get_by_role("checkbox", name="Dry run").check()
            page.get_by_role("button", name="Dry run").click()
            expect(asked).to_contain_text("Nothing is changed.")
        # Airflow's own page follows.
        asked.get_by_role("button", name="Dry run").click()
        page.wait_for_url("**/dags/repair/runs/*")
        shot(page, tmp_path, "run")
        form = TriggerForm(page, "verify")
        form.pick("slaves", "geneva")
        form.write("ranges", "public.airlines: 'A' .. 'M'\n \npublic.planes: N1 ..\n")
        shot(page, tmp_path, "form")
        form.send()
    compare = people["admin"].ask("/api/v2/dags/verify/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]["conf"]
    assert [one for one in compare["ranges"] if one.strip()] == ["public.airlines: 'A' .. 'M'", "public.planes: N1 .."]
    begun = people["admin"].ask("/api/v2/dags/repair/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]["conf"]
    assert begun == {
        "source": SOURCE,
        "slave": "zurich",
        "report": 4711,
        "kinds": ["changed"],
        "rule": "newest",
        "column": "changed at",
        "dry_run": True,
    }
    ranges = f"/comparisons/{SOURCE}/geneva/4701"
    seen = {
        name: (visit(name).get(ranges).text, visit(name).get(f"/api/v1{ranges}").json()) for name in ("eva", "admin")
    }
    assert {name: ("2013, 12" in text, rest["tables"][0]["within"]) for name, (text, rest) in seen.items()} == {
        "eva": (False, []),
        "admin": (True, ["public.t: 2013, 1 .. 2013, 12", "public.t: 'it''s' .."]),
    }
    others = visit("eva").get(REPORT).text
    assert 'tbody class="is-changed"' in others
    assert [text for text in (SECRET, "script>alert", "k1<", "k2<") if text in others] == []
    assert visit("eva").get(f"/comparisons/{SOURCE}/zurich/1").status_code == 404
    assert visit("eva").get(f"{REPORT}?table=public.none").status_code == 404
    assert visit("eva").get(f"{REPORT}?table=public.t&after=2147483647").status_code == 422
    message = f"SLC-090: public.t on geneva: 1 extra{FIRST_KEYS}public.t on geneva extra ({SECRET})"
    replications.try_record(world.context.store, world.pair("geneva"), ReplicationEvent.CLEAR, message, update_id=None)
    for path in (f"/replications/{SOURCE}/geneva", f"/api/v1/replications/{SOURCE}/geneva"):
        seen = {name: visit(name).get(path).text for name in ("eva", "admin")}
        assert "1 extra; first keys:" in seen["eva"]
        assert {name: SECRET in text for name, text in seen.items()} == {"eva": False, "admin": True}
    for report in range(1, 24):
        compared(world, "zurich", report, rows=())
    first = visit("eva").get(f"/comparisons/{SOURCE}").text
    assert (first.count('id="comparison--'), "before=2/zurich" in first.replace("%2F", "/")) == (25, True)
    assert visit("eva").get(f"/comparisons/{SOURCE}?before=2/zurich").text.count('id="comparison--') == 1
    assert visit("eva").get(f"/comparisons/{SOURCE}?before=2").status_code == 422


def test_rest_has_a_report_and_its_rows_to_download(world, visit, asked, people, address):
    admin, eva = visit("admin"), visit("eva")
    for client, page in ((eva, REPORT), (admin, f"{REPORT}/repair")):
        asked.clear()
        assert client.get(page).status_code == 200
        # A report of very many tables is read once.
        assert sum("FROM comparison " in text for text in asked) == 1, asked
    newest = eva.get(f"/api/v1/comparisons/{SOURCE}").json()["comparisons"][0]
    assert (newest["report"], newest["different"], newest["missing"]) == (4711, 67, 66)
    assert (newest["since"], newest["keys"]) == ("41/8", 2400)
    (odd, equal) = eva.get(f"/api/v1{REPORT}").json()["tables"]
    assert (odd["table"], odd["changed"], equal["different"]) == ("public.t", 1, 0)
    of = f"/api/v1{REPORT}/rows"
    wanted = {"dry_run": True, "rule": "newest", "column": "changed at"}
    for rows, status, code in (("3, 60", 200, 0), ("60-61", 409, 466), ("0", 409, 466), ("", 422, 0), ("3; 4", 422, 0)):
        told = admin.post(f"/api/v1{REPORT}/repair", json=wanted | {"rows": rows}, headers=ours(admin, address))
        assert (told.status_code, told.json().get("code", 0)) == (status, code or told.json().get("code", 0)), told.text
    kinds = {"rows": "3", "kinds": ["missing"]}
    assert admin.post(f"/api/v1{REPORT}/repair", json=kinds, headers=ours(admin, address)).json()["code"] == 466
    plain = {"rule": "newest"}
    assert admin.post(f"/api/v1{REPORT}/repair", json=plain, headers=ours(admin, address)).json()["code"] == 627
    newest_run = people["admin"].ask("/api/v2/dags/repair/dagRuns?order_by=-run_after&limit=1")["dag_runs"][0]["conf"]
    assert newest_run == {"source": SOURCE, "slave": "zurich", "report": 4711, "rows": "3, 60", **wanted}
    first = admin.get(of, params={"table": "public.t"}).json()
    rest = admin.get(of, params={"table": "public.t", "after": first["next"]}).json()
    assert (len(first["rows"]), len(rest["rows"]), rest["next"]) == (50, 10, None)
    assert first["rows"][0]["master"] == {"id": HOSTILE, "note": SECRET}
    (masked, *_) = eva.get(of, params={"table": "public.t"}).json()["rows"]
    assert (masked["columns"], masked["key"], masked["master"], masked["slave"]) == (["note"], None, None, None)
    assert [visit(name).get(f"{of}.{kind}").status_code for name in ("eva", "otto") for kind in KINDS] == [403] * 4
    whole = admin.get(f"{of}.json").json()
    found, more = whole["rows"], whole["more"]
    assert found[0]["key"] == {"id": HOSTILE}
    parquet = admin.get(f"{of}.parquet")
    assert parquet.headers["content-disposition"] == 'attachment; filename="comparison_flights_zurich_4711.parquet"'
    file = pq.ParquetFile(io.BytesIO(parquet.content))
    rows = file.read().to_pylist()
    assert (more, file.metadata.metadata[b"more"]) == (7, b"7")
    plain = [row | {side: row[side] and dict(row[side]) for side in ("key", "master", "slave")} for row in rows]
    assert plain == found
    assert len(found) == 60
    sampled = eva.get(f"/api/v1/comparisons/{SOURCE}/geneva/4700").json()
    assert [(one["percent"], one["bound"]) for one in (sampled, *sampled["tables"])] == [(10, BOUND)] * 3
    equal_one = f"/api/v1/comparisons/{SOURCE}/geneva/4700/rows"
    assert admin.get(f"{equal_one}.json").json() == {"rows": [], "more": 0}
    assert pq.read_table(io.BytesIO(admin.get(f"{equal_one}.parquet").content)).num_rows == 0
    assert admin.get(f"/api/v1/comparisons/{SOURCE}/zurich/9/rows.json").status_code == 404


def test_rows_of_a_slave_that_has_no_repair_are_shown_without_one(world, visit, address):
    admin = visit("admin")
    assert "/repair" in admin.get(REPORT).text
    world.settings["slaves"]["zurich"]["vendor"] = "parquet"
    (world.path / "replication.yaml").write_text(yaml.safe_dump(world.settings))
    assert "/repair" not in admin.get(REPORT).text
    refused = admin.post(f"/api/v1{REPORT}/repair", json={}, headers=ours(admin, address))
    assert (refused.status_code, refused.json()["code"]) == (409, 468)
    assert "SLC-468" in admin.get(f"{REPORT}/repair").text


def test_the_form_of_a_repair_ticks_no_table_without_a_key_and_says_why(world, visit):
    compared(world, "zurich", 4712, rows=ODD, key=[])
    forms = {
        number: visit("admin").get(f"/comparisons/{SOURCE}/zurich/{number}/repair").text for number in (4711, 4712)
    }
    for number, state in ((4711, "checked"), (4712, "disabled")):
        assert f'value="public.t" {state}>' in forms[number]
        assert ("its rows have no key, so it is left out" in forms[number]) == (state == "disabled")
