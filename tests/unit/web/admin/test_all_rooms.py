"""All rooms of the workshop, with and without anything in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.unit.archive.stored import keep
from tests.unit.web.inside import OWN, a_job, token_of

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


ROOMS = (
    "/admin", "/admin/jobs", "/admin/jobs?status=failed", "/admin/jobs?status=queued", "/admin/runs",
    "/admin/runs?status=failed", "/admin/sessions", "/admin/sessions?status=failed&domain=a.example",
    "/admin/domains", "/admin/domains/shop.example", "/admin/sources", "/admin/warcs",
    "/admin/warcs?state=damaged", "/admin/retention", "/admin/retention?plan=1", "/admin/audit",
    "/admin/system",
)  # fmt: skip


def test_every_room_that_one_is_led_to_is_looked_at(inside: Served) -> None:
    """A new one is opened by the test below as well."""
    ways = inside.get("/admin").text.partition('class="subnav"')[2].partition("</nav>")[0]
    led_to = re.findall(r'<a href="([^"]+)"', ways)
    assert "/admin/sessions" in led_to
    assert set(led_to) <= set(ROOMS)


def test_every_room_opens_with_and_without_anything_in_it(inside: Served) -> None:
    """For who has logged in; for others it shows the door, and nothing that is behind it."""
    for path in ROOMS:
        assert (path, inside.get(path).status_code) == (path, 200)
    keep(inside.database, inside.blobs, "<title>x</title>")
    failed = a_job(inside, "failed")
    rooms = (*ROOMS, f"/admin/jobs/{failed}", f"/admin/jobs/{failed}.json", "/admin/jobs.csv")
    for path in rooms:
        response = inside.get(path)
        assert (path, response.status_code) == (path, 200)
        assert "<b>bold" not in response.text or path.endswith((".csv", ".json"))
        assert "<script>alert" not in response.text or path.endswith(".json")
    inside.client.cookies.clear()
    for path in rooms:
        response = inside.get(path, headers={"Accept": "text/html"})
        assert (path, response.status_code) == (path, 401)
        assert "failed-job" not in response.text


def test_what_was_done_is_said_in_words_of_ours(inside: Served) -> None:
    """A link from elsewhere puts no sentence of its own on a page."""
    job, forged = a_job(inside, "failed"), "Send your token to evil.example"
    for path in (f"/admin/jobs/{job}", "/admin/retention"):
        for code in (forged, "retention.purge", "{subject}", "retention.hold"):
            page = inside.get(path, params={"done": code}).text
            assert "Done:" not in page
            assert forged not in page
    answer = inside.client.post(
        f"/admin/jobs/{job}/retry", data={"form_token": token_of(page_of(inside, job))}, headers=OWN
    )
    assert "Done: it is tried again." in inside.get(answer.headers["location"]).text


def page_of(inside: Served, job: int) -> str:
    """The page of a job."""
    return inside.get(f"/admin/jobs/{job}").text
