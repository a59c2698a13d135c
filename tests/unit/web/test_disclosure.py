"""What strangers must not learn: holds, places of this machine, workers, and what needs an operator."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from attrs import frozen
from sqlalchemy import select, update
from sqlalchemy.engine import make_url

from crawler.clock import utc_now
from crawler.db.models import Artifact, JobStep, JobWorker, Page, RegisteredSource, RunWorker, WarcFile
from tests.integration.gate.flaky_proxy import flaky_proxy
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.stored import index_pages, keep
from tests.unit.views.rows import a_hold, a_job, a_run, a_session, a_step, an_exception
from tests.unit.web.conftest import TOKEN, serving_on
from tests.unit.web.inside import DOORS, GUARDED, OWN, routes_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from tests.unit.web.conftest import Served

WHO, WHY, WORKER, PLACE = "Counsel Canary", "the canary litigation", "canary-host:4711", "/canary/archive"
SIGNS_OF_TROUBLE = (
    "Needs attention", "is stuck", "were put back", "could not be crawled", "without a process",
    "files damaged", "sign of a worker", "worker_silence", "job_stuck", "held by", "no hold",
    "past their date",
)  # fmt: skip
KINDS = ("application/json", "text/html")


@frozen
class Troubled:
    """A server that strangers ask, and what they must not read there."""

    served: Served
    secrets: tuple[str, ...]
    paths: tuple[str, ...]

    def leaks(self, more: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
        """Each public address that tells one of the secrets, and which."""
        for path in self.paths:
            for kind in KINDS:
                response = self.served.get(path, headers={"Accept": kind})
                text = f"{response.headers}\n{response.text}".lower()
                yield from ((path, one) for one in (*self.secrets, *more) if one.lower() in text)


@pytest.fixture
def troubled(sqlite_database: str, tmp_path: Path) -> Generator[Troubled]:
    """Holds, stuck and failed jobs, dead workers, damaged and missing files; and their addresses."""
    with serving_on(sqlite_database, tmp_path / "home") as start:
        served = start(admin_token=TOKEN)
        keep(served.database, served.blobs, "<title>Chair</title><p>A chair of beech.", SHOP)
        keep(served.database, served.blobs, "<title>Gone</title><p>It was oak.", f"{SHOP}gone")
        for name in ("warcs", "moved"):
            _keep_in_warc(served, tmp_path / name, f"{SHOP}{name}")
        index_pages(served.database, served.blobs)
        _trouble(served)
        for lost in (tmp_path / "moved").rglob("*.gz"):
            lost.unlink()
        with served.database.read() as db:
            uris = list(db.scalars(select(Artifact.storage_uri)))
            source = db.scalars(select(RegisteredSource.code)).first() or ""
        (served.blobs.root / _uri_of(served, f"{SHOP}gone")).unlink()
        secrets = (WHO, WHY, WORKER, PLACE, str(tmp_path), *uris, *SIGNS_OF_TROUBLE)
        yield Troubled(served, secrets, tuple(dict.fromkeys(_addresses(served, source))))


def _uri_of(served: Served, url: str) -> str:
    with served.database.read() as db:
        found = select(Artifact.storage_uri).join(Page, Page.id == Artifact.page_id).where(Page.url == url)
        return db.scalars(found).one()


def _keep_in_warc(served: Served, folder: Path, url: str) -> None:
    [key] = record(served.database, folder, exchange(url, f"<p>Elm for {url}", day(1)))
    keep(served.database, served.blobs, f"<p>Elm for {url}", url)
    with served.database.write() as db:
        db.execute(update(Page).where(Page.url == url).values(record_id=key))


def _trouble(served: Served) -> None:
    now = utc_now()
    long_ago = now - timedelta(days=3)
    with served.database.write() as db:
        stuck = a_job(status="running", output_dir=f"{PLACE}/stuck")
        failed = a_job(status="failed", output_dir=f"{PLACE}/failed", crawler_stage=WORKER)
        run, session = a_run(), a_session(status="running", heartbeat_at=long_ago)
        for row in (stuck, failed, run, session, a_hold(domain="shop.example", who=WHO, why=WHY)):
            db.add(row)
            db.flush()
        leased = {"lease_owner": WORKER, "lease_expires_at": long_ago, "begun_at": long_ago}
        db.add(a_step(stuck.id, status="in_progress", **leased))
        db.add(a_step(failed.id, next_run_at=now + timedelta(hours=1), last_error=f"{PLACE} is not mounted"))
        db.add(an_exception(run.id, f"{PLACE} broke"))
        db.add(RunWorker(run_id=run.id, owner=WORKER, alive_until=long_ago))
        db.add(JobWorker(process=WORKER, started_at=long_ago, seen_at=now, lasts_until=now + timedelta(1)))
        for file in db.scalars(select(WarcFile)):
            file.state = "damaged"
        for artifact in db.scalars(select(Artifact)):
            artifact.retention_until, artifact.legal_hold = now - timedelta(days=2), True


def _addresses(served: Served, source: str) -> Iterator[str]:
    """All public routes, of things that are there and of some that are not."""
    ids = (*map(str, range(1, 6)), "999999", "x")
    urls = (SHOP, f"{SHOP}gone", f"{SHOP}warcs", f"{SHOP}moved", f"{SHOP}never")
    for method, path in routes_of(served):
        if method != "GET" or (path.startswith(GUARDED) and path not in DOORS):
            continue
        yield path
        yield f"{path}?page=x&from=x&format=x&url={SHOP}"
        yield from (re.sub(r"(?<=/)1(?=$|[./])", each, path) for each in (*ids, source))
    for number in ids:
        yield f"/snapshots/{number}?verify=1"
        yield from (f"/diff/{number}/{other}" for other in ids)
    for url in urls:
        yield f"/search?q={url}"
        yield f"/api/search?q={url}"
        yield from (f"/web/cdx?url={url}&output={form}" for form in ("text", "cdxj", "json"))
        yield from (f"/web/{what}/{url}" for what in ("*", "2026", "2026mp_", "2026id_", "2026im_"))
        yield from (f"/web/timemap/{form}/{url}" for form in ("link", "cdxj", "json"))
        yield f"/web/{url}"


def test_strangers_learn_nothing_of_the_house(troubled: Troubled) -> None:
    """Every public page, in every form, also where it says that something is not there."""
    assert len(troubled.paths) > 100
    assert sorted(set(troubled.leaks())) == []


def test_strangers_learn_nothing_of_a_database_that_is_away(database_url: str, tmp_path: Path) -> None:
    """No host, port, user or file of it."""
    parts = make_url(database_url)
    is_file = parts.get_backend_name() == "sqlite"
    with (
        flaky_proxy(f"x://{parts.host}:{parts.port or 1}/") as proxy,
        serving_on(
            database_url if is_file else _through(database_url, proxy.url), tmp_path / "home"
        ) as start,
    ):
        served = start(admin_token=TOKEN)
        keep(served.database, served.blobs, "<title>Chair</title><p>A chair of beech.", SHOP)
        index_pages(served.database, served.blobs)
        if served.database.path:
            served.database.close()
            served.database.path.unlink()
            served.database.path.mkdir()
        proxy.down = True
        port = make_url(proxy.url.replace("redis", "postgresql")).port
        places = (f":{port}/", f"port {port}", str(tmp_path), str(parts.database))
        secrets = (*places, "DATABASE_URL", "VITRINE_HOME")
        away = Troubled(served, secrets, tuple(dict.fromkeys(_addresses(served, "shop"))))
        assert served.get("/api/search?q=chair").json()["code"] == "database_unavailable"
        assert sorted(set(away.leaks())) == []
        told = served.get("/admin/api/retention", headers={"X-Admin-Token": TOKEN}).json()
        assert served.database.shown in told["error"]


def _through(url: str, proxy: str) -> str:
    other = make_url(proxy.replace("redis", "postgresql"))
    return make_url(url).set(host=other.host, port=other.port).render_as_string(hide_password=False)


def test_operators_see_all_of_it(troubled: Troubled) -> None:
    """Who has logged in reads on the workshop's pages what strangers do not."""
    served = troubled.served

    shown = served.get
    assert shown("/admin/snapshots/1").status_code == 401
    served.client.post("/admin/login", data={"token": TOKEN, "next": "/admin"}, headers=OWN)
    home = shown("/admin").text
    for said in ("Needs attention", "is stuck", "damaged", "without a process"):
        assert said in home
    with served.database.read() as db:
        stuck = db.scalars(select(JobStep.job_id).where(JobStep.lease_owner == WORKER)).one()
    assert f"{PLACE}/stuck" in shown(f"/admin/jobs/{stuck}").text
    exhibits = "".join(shown(f"/admin/snapshots/{number}").text for number in range(1, 5))
    for said in (WHO, WHY, _uri_of(served, SHOP)):
        assert said in exhibits
    assert shown("/admin/snapshots/1.json").json()["holds"][0]["who"] == WHO
