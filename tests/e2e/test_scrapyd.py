"""Deployed to a scrapyd that has the dependencies alone: everything runs out of the zipped egg."""

from __future__ import annotations

import json
import subprocess
import zipfile
from typing import TYPE_CHECKING, TypeVar

import pytest
import requests
from attrs import frozen
from sqlalchemy import select

from crawler.db import revisions
from crawler.db.engine import Database
from crawler.db.models import Artifact, CrawlSession, DomainGate, Task
from crawler.demo import NETWORK
from crawler.evidence.blobs import MARK
from crawler.urls import domain_of
from tests.e2e.conftest import QUICK
from tests.programs.scrapyd import Scrapyd, bare_python, clone, deploy, own_scrapyd
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Select

    from crawler.demo import DemoServer

T = TypeVar("T")
AT_ONCE = "DOWNLOAD_DELAY=0"


@frozen
class Deployed:
    """A machine to which a clone was deployed."""

    scrapyd: Scrapyd
    tree: Path

    @property
    def egg(self) -> Path:
        """What was deployed."""
        return self.scrapyd.folder / "scrapyd" / "eggs" / "vitrine" / "1_0.egg"

    def rows(self, question: Select[T]) -> list[T]:
        """What the machine's database has, as it is now."""
        database = Database(f"sqlite:///{self.scrapyd.folder / 'vitrine.db'}")
        try:
            with database.read() as db:
                return list(db.scalars(question))
        finally:
            database.close()

    def has_a_database(self) -> None:
        """Make sure of it: a cleanup makes none, and which test comes first is chance."""
        database = Database(f"sqlite:///{self.scrapyd.folder / 'vitrine.db'}")
        revisions.upgrade(database)
        database.close()

    def files(self) -> set[str]:
        """The files of the artifacts."""
        folder = self.scrapyd.folder / "artifacts"
        return {
            str(each.relative_to(folder))
            for each in folder.rglob("*")
            if each.is_file() and each.name != MARK
        }


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """A clean clone, deployed to a scrapyd on a machine without the project."""
    folder = tmp_path_factory.mktemp("scrapyd")
    python = bare_python(folder / "bare")
    missing = subprocess.run(
        [python, "-c", "import crawler"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "No module named 'crawler'" in missing.stderr
    with own_scrapyd(python, {**QUICK, "EGRESS_ALLOW": NETWORK}) as scrapyd:
        tree = clone(folder / "clone")
        said = json.loads(deploy(tree, scrapyd, "1.0"))
        assert (said["status"], said["spiders"]) == ("ok", 5)
        yield Deployed(scrapyd, tree)


def test_the_egg_has_all_that_the_package_reads_and_no_tests(deployed: Deployed) -> None:
    """Whatever git has below `crawler/` is in it; nothing of the rest of the tree."""
    within = set(zipfile.ZipFile(deployed.egg).namelist())
    ours = {
        str(path.relative_to(deployed.tree))
        for path in (deployed.tree / "crawler").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert ours <= within
    assert {name.partition("/")[0] for name in within} == {"crawler", "EGG-INFO"}


def test_jobs_crawl_out_of_the_egg(deployed: Deployed, shops: DemoServer) -> None:
    """They are scheduled over HTTP; what is refused says so in its job's log."""
    scrapyd = deployed.scrapyd
    before, said = len(shops.log.entries("hub")), scrapyd.own_log()  # by other tests
    agent = "USER_AGENT=from-schedule"
    site = scrapyd.schedule("site", AT_ONCE, agent, start_url=shops.url("hub"), max_pages="4")
    refused = scrapyd.schedule("pdp", url="no-url")
    scrapyd.wait(site, refused)

    domain = domain_of(shops.url("hub"))
    assert deployed.rows(select(CrawlSession.status).where(CrawlSession.domain == domain)) == ["completed"]
    assert deployed.rows(select(Task.status).where(Task.domain == domain)) == ["finished"] * 4
    stored = set(deployed.rows(select(Artifact.storage_uri)))
    assert len(stored) > 4
    assert deployed.files() == stored
    assert {entry.user_agent for entry in shops.log.entries("hub")[before:]} == {"from-schedule"}
    assert "crawl.refused" in scrapyd.log(refused)
    assert "no-url" in scrapyd.log(refused)
    said = scrapyd.own_log().removeprefix(said)
    assert said.count("Process finished") == 1
    assert said.count("Process died: exitstatus=2") == 1


@pytest.mark.soak
def test_a_job_that_is_cancelled_leaves_no_lock_and_no_lease(deployed: Deployed, shops: DemoServer) -> None:
    """What is under way is finished, the rest goes back, and the domain is free."""
    scrapyd, shop = deployed.scrapyd, "shop-0001"
    before = len(shops.log.entries(shop))
    job = scrapyd.schedule("site", "DOWNLOAD_DELAY=0.3", start_url=shops.url(shop))
    wait_for(lambda: len(shops.log.entries(shop)) > before + 3)
    domain = domain_of(shops.url(shop))
    held = select(DomainGate.token).where(DomainGate.domain == domain, DomainGate.token.is_not(None))
    assert deployed.rows(held)
    scrapyd.ask("cancel", project="vitrine", job=job)
    scrapyd.wait(job)

    assert "'finish_reason': 'shutdown'" in scrapyd.log(job)
    assert not deployed.rows(held)
    tasks = deployed.rows(select(Task.status).where(Task.domain == domain))
    assert set(tasks) == {"finished", "pending"}
    assert set(deployed.rows(select(CrawlSession.status))) == {"completed"}


@pytest.mark.soak
def test_the_next_deployment_is_what_runs_next(deployed: Deployed) -> None:
    """A newer version is taken without a restart; it can be a cleanup, which fetches nothing."""
    settings = deployed.tree / "crawler" / "settings.py"
    settings.write_text(settings.read_text().replace('BOT_NAME = "vitrine"', 'BOT_NAME = "second"'))
    deploy(deployed.tree, deployed.scrapyd, "2.0")
    deployed.has_a_database()
    job = deployed.scrapyd.schedule("cleanup", batch_size="50")
    deployed.scrapyd.wait(job)
    assert "(bot: second)" in deployed.scrapyd.log(job)
    assert "'vitrine/cleanup/failed': 0" in deployed.scrapyd.log(job)


def test_nobody_comes_in_without_the_password(deployed: Deployed) -> None:
    """Whoever may deploy may run any program."""
    assert requests.get(f"{deployed.scrapyd.url}daemonstatus.json", timeout=30).status_code == 401
