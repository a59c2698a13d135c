"""The capture that is shown is the nearest one, it can do nothing, and what is not there is told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from crawler.archive.asked import asked
from crawler.archive.lookup import all_of, near
from crawler.archive.missing import missing_of
from crawler.archive.replay import (
    CaptureGoneError,
    NotCapturedError,
    RedirectLoopError,
    Replay,
)
from crawler.clock import utc_now
from crawler.db.models import Artifact, Record
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.archive.replay import Answer
    from crawler.db.engine import Database
    from crawler.warc.messages import Exchange

PAGE = "<title>Shop</title><link rel=stylesheet href=/s.css><img src=/p.png><script>evil()</script><p>Day {}"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64


@pytest.fixture
def blobs(tmp_path: Path) -> FolderStore:
    """The place of the artifacts."""
    return FolderStore(tmp_path / "artifacts")


@pytest.fixture
def replay(database: Database, blobs: FolderStore) -> Replay:
    """What shows captures."""
    return Replay(database, blobs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The place of the WARC files."""
    return tmp_path / "warcs"


def shown(replay: Replay, rest: str) -> tuple[Answer, dict[str, str], bytes]:
    """An answer with its headers and its body."""
    answer = replay.content(asked(rest))
    return answer, dict(answer.headers), b"".join(answer.body)


def days(*numbers: int, status: int = 200, url: str = SHOP) -> list[Exchange]:
    """The shop's page as it was on some days."""
    return [exchange(url, PAGE.format(number), day(number), status=status) for number in numbers]


def time_shown(database: Database, url: str, at: int, hour: int = 12) -> int:
    """The day of the capture that is nearest."""
    with database.read() as db:
        chosen = near(db, url, day(at, hour)).chosen()
    assert chosen is not None
    return chosen.capture.captured_at.day


def test_the_nearest_capture_is_shown(replay: Replay, database: Database, folder: Path) -> None:
    """Before or after; the scheme and www. make no difference; a time need not be whole."""
    record(database, folder, *days(3, 10, 20))
    assert [time_shown(database, SHOP, at) for at in (1, 3, 6, 7, 15, 16, 31)] == [3, 3, 3, 10, 20, 20, 20]
    assert time_shown(database, "http://www.shop.example", 4) == 3
    answer, headers, body = shown(replay, f"20260509mp_/{SHOP}")
    assert b"Day 10" in body
    assert headers["Memento-Datetime"] == "Sun, 10 May 2026 12:00:00 GMT"
    assert f'</web/20260510120000/{SHOP}>; rel="memento"' in headers["Link"]
    assert (answer.status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")


def test_a_servers_failure_makes_way(database: Database, folder: Path) -> None:
    """For a capture that says something of the page; asked for by its very second it is shown."""
    record(database, folder, *days(3), *days(4, status=503), *days(5, status=429), *days(12, status=404))
    assert time_shown(database, SHOP, 4, hour=13) == 3
    assert time_shown(database, SHOP, 4, hour=12) == 4
    assert time_shown(database, SHOP, 13) == 12
    with database.read() as db:
        chosen = near(db, SHOP, day(4, 13)).chosen()
    assert chosen is not None
    assert [each.status for each in chosen.passed_over] == [503, 429]


def test_of_two_that_are_as_near_the_page_is_shown(database: Database, folder: Path) -> None:
    """Not the redirect, and not the error."""
    same = day(3)
    record(
        database, folder, exchange(SHOP, "", same, status=301, Location="https://www.shop.example/"),
        exchange("https://www.shop.example/", "page", same + timedelta(milliseconds=400)),
    )  # fmt: skip
    with database.read() as db:
        chosen = near(db, SHOP, same).chosen()
    assert chosen is not None
    assert chosen.capture.status == 200


def test_nothing_of_an_answer_goes_out_that_acts(replay: Replay, database: Database, folder: Path) -> None:
    """No header of the site does, and each answer carries the policy itself."""
    acting: dict[str, Any] = {
        "Set_Cookie": "a=b", "Refresh": "0;url=http://canary.example", "Link": "<http://canary.example>;rel=preload",
        "Strict_Transport_Security": "max-age=1", "Clear_Site_Data": '"*"', "Content_Security_Policy": "x",
        "Location": "http://canary.example/", "Service_Worker_Allowed": "/", "Report_To": "x",
    }  # fmt: skip
    record(database, folder, exchange(SHOP, PAGE, day(3), **acting))
    for modifier in ("mp_", "id_", "if_", "im_"):
        answer, headers, body = shown(replay, f"2026{modifier}/{SHOP}")
        assert not {name.replace("_", "-") for name in acting} - {"Link", "Content-Security-Policy"} & set(
            headers
        )
        assert "canary" not in str(answer.headers)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("sandbox allow-top-navigation-by-user-activation; default-src 'none'")
        assert "allow-scripts" not in policy
        assert (b"<script" in body) is (modifier == "id_")
        assert (headers.get("Content-Disposition") == "attachment") is (modifier == "id_")


def test_redirects_stay_in_the_archive(replay: Replay, database: Database, folder: Path) -> None:
    """And lead to the capture that they led to; one to the same page under https leads there."""
    record(
        database, folder,
        exchange(f"{SHOP}old", "", day(3), status=301, Location="/new"),
        exchange(f"{SHOP}new", "the new page", day(4)),
        exchange("http://shop.example/https", "", day(3), status=301, Location="https://shop.example/https"),
        exchange(f"{SHOP}https", "secure", day(3) + timedelta(seconds=1)),
        exchange(f"{SHOP}away", "", day(3), status=302, Location="https://elsewhere.example/"),
        exchange(f"{SHOP}evil", "", day(3), status=302, Location="javascript:alert(1)"),
    )  # fmt: skip
    answer, headers, _ = shown(replay, f"2026mp_/{SHOP}old")
    assert (answer.status, headers["Location"]) == (302, f"/web/20260504120000mp_/{SHOP}new")
    _, headers, _ = shown(replay, "20260503120000mp_/http://shop.example/https")
    assert headers["Location"] == f"/web/20260503120001mp_/{SHOP}https"
    with pytest.raises(
        NotCapturedError, match=r"led to https://elsewhere.example/ then, of which there is no capture"
    ):
        shown(replay, f"2026mp_/{SHOP}away")
    answer, headers, _ = shown(replay, f"2026mp_/{SHOP}evil")
    assert (answer.status, "Location" in headers) == (200, False)


def test_redirects_in_a_circle_are_told(replay: Replay, database: Database, folder: Path) -> None:
    """Nobody is sent round; neither by two pages nor by one."""
    record(
        database, folder,
        exchange(f"{SHOP}a", "", day(3), status=301, Location="/b"),
        exchange(f"{SHOP}b", "", day(3), status=301, Location="/a"),
        exchange(f"{SHOP}self", "", day(3), status=301, Location="http://www.shop.example/self"),
    )  # fmt: skip
    for path in ("a", "b", "self"):
        with pytest.raises(RedirectLoopError):
            shown(replay, f"2026mp_/{SHOP}{path}")


def test_what_a_page_is_shown_with(replay: Replay, database: Database, folder: Path) -> None:
    """Is asked of the archive; what is not there is listed."""
    record(
        database,
        folder,
        *days(3),
        exchange(f"{SHOP}s.css", "a{background:url(b.png)}", day(3), kind="text/css"),
    )
    answer, _, body = shown(replay, f"2026mp_/{SHOP}")
    assert f"/web/20260503120000cs_/{SHOP}s.css".encode() in body
    assert answer.shown is not None
    missing = missing_of(replay, answer.shown, "20260503120000")
    assert (list(missing.parts), list(missing.styled)) == ([f"{SHOP}p.png"], [f"{SHOP}b.png"])
    _, _, style = shown(replay, f"2026cs_/{SHOP}s.css")
    assert f"/web/20260503120000mp_/{SHOP}b.png".encode() in style


def test_a_failed_picture_makes_way_for_a_good_one(replay: Replay, database: Database, folder: Path) -> None:
    """However near it is: a page looks as it did with the picture of another day."""
    record(
        database, folder, exchange(f"{SHOP}p.png", "gone", day(3), status=404),
        exchange(f"{SHOP}p.png", PNG, day(9), kind="image/png"),
    )  # fmt: skip
    answer, _, body = shown(replay, f"20260503120000im_/{SHOP}p.png")
    assert (answer.status, body) == (200, PNG)
    assert shown(replay, f"20260503120000id_/{SHOP}p.png")[0].status == 404


def test_two_origins(database: Database, blobs: FolderStore, folder: Path) -> None:
    """What a page is shown with lies at one, the pages that a window shows at the other."""
    record(database, folder, exchange(SHOP, PAGE + "<a href=/x>x</a><iframe src=/f></iframe>", day(3)))
    replay = Replay(database, blobs, origin="https://replay.example", pages="https://archive.example")
    _, headers, body = shown(replay, f"2026mp_/{SHOP}")
    assert f'href="https://archive.example/web/20260503120000/{SHOP}x"'.encode() in body
    assert f'src="https://replay.example/web/20260503120000if_/{SHOP}f"'.encode() in body
    assert f'<https://archive.example/web/{SHOP}>; rel="timegate"' in headers["Link"]


def test_what_was_never_captured(replay: Replay, database: Database, folder: Path) -> None:
    """Is told, with the captures beside it."""
    record(database, folder, *days(3, url=f"{SHOP}a/b"), *days(3, url=f"{SHOP}c"), *days(4, url=f"{SHOP}a/b"))
    with pytest.raises(NotCapturedError) as error:
        shown(replay, f"2026mp_/{SHOP}a/x")
    assert [(each.url, each.captured_at) for each in error.value.near_by] == [(f"{SHOP}a/b", day(4))]
    with pytest.raises(NotCapturedError) as error:
        shown(replay, "2026mp_/https://other.example/")
    assert error.value.near_by == []


def test_what_was_removed(replay: Replay, database: Database, folder: Path) -> None:
    """Is told with its date and its digest; the others of its URL are shown as before."""
    first, _ = record(database, folder, *days(3, 10))
    with database.write() as db:
        db.execute(update(Record).where(Record.id == first).values(gone_at=utc_now()))
    with pytest.raises(CaptureGoneError) as error:
        shown(replay, f"20260503120000mp_/{SHOP}")
    stone = error.value.stone
    assert stone is not None
    assert (stone.why, stone.captured_at) == ("erased", day(3))
    assert (stone.digest or "").startswith("sha256:")
    assert [each.captured_at for each in error.value.near_by] == [day(10)]
    assert b"Day 10" in shown(replay, f"20260504mp_/{SHOP}")[2]


def test_what_retention_removed(replay: Replay, database: Database, blobs: FolderStore) -> None:
    """A page of a session whose file is gone has a tombstone, whatever time is asked for."""
    key = keep(database, blobs, PAGE.format(3), SHOP, at=day(3))
    index_pages(database, blobs)
    assert b"Day 3" in shown(replay, f"2026mp_/{SHOP}")[2]
    with database.write() as db:
        db.execute(update(Artifact).where(Artifact.id == key).values(deleted_at=utc_now()))
    with pytest.raises(CaptureGoneError, match="removed_by_retention") as error:
        shown(replay, f"2027mp_/{SHOP}")
    assert error.value.http_status == 410


def test_what_was_asked_for_is_gone_however_much_went_after_it(
    replay: Replay, database: Database, folder: Path
) -> None:
    """The capture of that very second is told of, with what is near it; a second later that is shown."""
    record(database, folder, *days(*range(1, 16)))
    with database.write() as db:
        db.execute(update(Record).where(Record.captured_at < day(14)).values(gone_at=utc_now()))
    with pytest.raises(CaptureGoneError) as error:
        shown(replay, f"20260502120000mp_/{SHOP}")
    assert error.value.stone is not None
    assert error.value.stone.captured_at == day(2)
    assert [each.captured_at.day for each in error.value.near_by] == [14, 15]
    assert b"Day 14" in shown(replay, f"20260502120001mp_/{SHOP}")[2]


def test_all_captures_are_listed_in_order(
    database: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of them at a time, none twice and none left out."""
    monkeypatch.setattr("crawler.archive.lookup.TIMEMAP_ROWS", 3)
    record(database, folder, *days(*range(1, 12)))
    assert [each.captured_at.day for each in all_of(database, SHOP)] == list(range(1, 12))


def test_a_revisit_is_a_capture(replay: Replay, database: Database, folder: Path) -> None:
    """With the body that it repeats, and its own time."""
    same = [exchange(SHOP, "the same page", day(number)) for number in (3, 4)]
    record(database, folder, *same, revisits="url")
    _, headers, body = shown(replay, f"20260504mp_/{SHOP}")
    assert b"the same page" in body
    assert headers["Memento-Datetime"].startswith("Mon, 04 May 2026")
