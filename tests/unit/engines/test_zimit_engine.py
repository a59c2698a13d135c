"""What a container is told, which older ones go, and what its exit codes mean."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from crawler.engines import zimit_engine
from crawler.engines.engine import InfrastructureError, Stage
from crawler.engines.flags import ToolOrder
from crawler.engines.zimit_engine import MAX_ARGUMENT_CHARS, RESUME_FILE, SEEDS_FILE, ZimitEngine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SEED = "https://shop.example/"


class Docker:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.containers = ""
        self.is_away = False

    def __call__(self, *words: str) -> str | None:
        """What `docker` says."""
        self.asked.append(words)
        return None if self.is_away else self.containers


@pytest.fixture
def docker(monkeypatch: pytest.MonkeyPatch) -> Docker:
    """One that is on the PATH."""
    made = Docker()
    monkeypatch.setattr(zimit_engine, "_asked", made)
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/docker")
    monkeypatch.setenv("VITRINE_JOB", "7")
    monkeypatch.setenv("VITRINE_EPOCH", "3")
    return made


def engine(folder: Path, *seeds: str, passthrough: tuple[str, ...] = ()) -> ZimitEngine:
    """An engine for a job."""
    return ZimitEngine(ToolOrder(seeds or (SEED,), "shop", str(folder), {}, passthrough), folder)


def told(folder: Path, *seeds: str, **more: Any) -> Sequence[str]:
    """The command line of its second attempt."""
    return engine(folder, *seeds, **more).launch(2, 4).command


def test_without_docker_nothing_begins(
    docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where it is missing, nor where its daemon does not answer."""
    engine(tmp_path).require()
    docker.is_away = True
    with pytest.raises(InfrastructureError, match="does not answer"):
        engine(tmp_path).require()
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(InfrastructureError, match="not on the PATH"):
        engine(tmp_path).require()


@pytest.mark.parametrize(("job", "epoch"), [("7; rm", "x"), ("", ""), ("../7", "-1")])
def test_a_name_is_made_of_what_may_stand_in_one(
    docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str, epoch: str
) -> None:
    """Whatever the environment says."""
    monkeypatch.setenv("VITRINE_JOB", job)
    monkeypatch.setenv("VITRINE_EPOCH", epoch)
    assert told(tmp_path)[4] == f"vitrine-job-shop-{os.getpid()}-2"


def test_more_seeds_than_fit_come_in_a_file(docker: Docker, tmp_path: Path) -> None:
    """One a line, as they are."""
    seeds = [f"{SEED}{number},x" for number in range(MAX_ARGUMENT_CHARS // 20)]
    words = told(tmp_path, *seeds)
    assert words[words.index("--seedFile") + 1] == f"/output/{SEEDS_FILE}"
    assert (tmp_path / SEEDS_FILE).read_text("utf-8").splitlines() == seeds


def test_a_crawl_goes_on_with_the_newest_configuration(docker: Docker, tmp_path: Path) -> None:
    """Copied to where it stays; empty ones, links, and other folders' do not count."""
    outside = tmp_path.parent / "secret.yaml"
    outside.write_text("secret", encoding="utf-8")
    places = (
        ".tmpa/collections/crawl-1/crawls",
        ".tmpb/collections/crawl-2/crawls",
        "tmpc/collections/crawl-3/crawls",
    )
    for number, place in enumerate(places):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "x.yaml").write_text(f"state {number}", encoding="utf-8")
        os.utime(tmp_path / place / "x.yaml", (number, number))
        (tmp_path / place / "empty.yaml").touch()
        (tmp_path / place / "link.yaml").symlink_to(outside)
    words = told(tmp_path)
    assert words[words.index("--config") + 1] == f"/output/{RESUME_FILE}"
    assert (tmp_path / RESUME_FILE).read_text("utf-8") == "state 1"


def test_a_copy_that_is_a_link_is_not_followed(docker: Docker, tmp_path: Path) -> None:
    """It could lead out of the archive."""
    (tmp_path / RESUME_FILE).symlink_to("/etc/passwd")
    assert "--config" not in told(tmp_path)


@pytest.mark.parametrize(
    ("code", "tail", "stage"),
    [
        (0, ["No space left on device"], Stage.COMPLETED),
        (1, ["x", "write: NO SPACE left on device"], Stage.INFRASTRUCTURE), (3, [], Stage.INFRASTRUCTURE),
        (14, [], Stage.LIMIT_HIT), (9, [], Stage.FAILED),
        (143, [], Stage.INTERRUPTED),
        (125, [], Stage.INFRASTRUCTURE), (11, [], Stage.INTERRUPTED), (-9, [], Stage.FAILED),
    ],
)  # fmt: skip
def test_what_a_code_means(docker: Docker, tmp_path: Path, code: int, tail: list[str], stage: Stage) -> None:
    """A disk that is full is one whatever the code, but for success."""
    assert engine(tmp_path).came_to(code, tail) is stage
