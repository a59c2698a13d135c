"""What a container is told, which older ones go, and what its exit codes mean."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from crawler.engines import zimit_engine
from crawler.engines.engine import Attempt, InfrastructureError, Stage
from crawler.engines.flags import ToolOrder
from crawler.engines.state import ArchiveState
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
    return engine(folder, *seeds, **more).launch(Attempt(2, 4, 0, ArchiveState())).command


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


def test_the_command_names_job_epoch_and_attempt(docker: Docker, tmp_path: Path) -> None:
    """No shell reads it; what the operator passes on comes last."""
    words = told(tmp_path, f"{SEED}a,b", f"{SEED}; rm -rf /", passthrough=("--lang", "fr"))
    assert words[:7] == ["docker", "run", "--rm", "--name", "vitrine-job-7-3-2", "-v", f"{tmp_path}:/output"]
    assert words[words.index("--seeds") + 1] == f"{SEED}a%2Cb,{SEED}; rm -rf /"
    assert words[words.index("--workers") + 1] == "4"
    assert words[-2:] == ["--lang", "fr"]
    assert "--config" not in words


@pytest.mark.parametrize(("job", "epoch"), [("7; rm", "x"), ("", ""), ("../7", "-1")])
def test_a_name_is_made_of_what_may_stand_in_one(
    docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str, epoch: str
) -> None:
    """Whatever the environment says."""
    monkeypatch.setenv("VITRINE_JOB", job)
    monkeypatch.setenv("VITRINE_EPOCH", epoch)
    assert told(tmp_path)[4] == f"vitrine-job-shop-{os.getpid()}-2"


def test_only_its_own_older_containers_go(docker: Docker, tmp_path: Path) -> None:
    """Docker's filter takes a part of a name."""
    docker.containers = "vitrine-job-7-2-1\nvitrine-job-77-1-1\nother-vitrine-job-7-2-1\nvitrine-job-7-3-1\n"
    told(tmp_path)
    removed = [words[-1] for words in docker.asked if words[0] == "rm"]
    assert removed == ["vitrine-job-7-2-1", "vitrine-job-7-3-1"]


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
        (0, [], Stage.COMPLETED), (0, ["No space left on device"], Stage.COMPLETED),
        (1, ["x", "write: NO SPACE left on device"], Stage.INFRASTRUCTURE), (3, [], Stage.INFRASTRUCTURE),
        (14, [], Stage.LIMIT_HIT), (9, [], Stage.FAILED), (137, [], Stage.FAILED),
        (143, [], Stage.INTERRUPTED),
        (125, [], Stage.INFRASTRUCTURE), (11, [], Stage.INTERRUPTED), (-9, [], Stage.FAILED),
    ],
)  # fmt: skip
def test_what_a_code_means(docker: Docker, tmp_path: Path, code: int, tail: list[str], stage: Stage) -> None:
    """A disk that is full is one whatever the code, but for success."""
    assert engine(tmp_path).came_to(code, tail) is stage


def test_of_several_attempts_one_file_is_made(docker: Docker, tmp_path: Path) -> None:
    """Of one there is one already."""
    for name in ("a", "b"):
        assert engine(tmp_path).final_zim() is None
        archive = tmp_path / f".tmp{name}/collections/crawl-1/archive"
        archive.mkdir(parents=True)
        (archive / f"{name}.warc.gz").write_bytes(b"x")
    launch = engine(tmp_path).final_zim()
    assert launch is not None
    warcs = launch.command[launch.command.index("--warcs") + 1].split(",")
    assert sorted(path.rpartition("/")[2] for path in warcs) == ["a.warc.gz", "b.warc.gz"]
    assert all(path.startswith("/output/.tmp") for path in warcs)


@pytest.mark.parametrize("broken", [OSError(2, "x"), subprocess.TimeoutExpired("docker", 1)])
def test_a_docker_that_breaks_answers_nothing(monkeypatch: pytest.MonkeyPatch, broken: Exception) -> None:
    """It is no traceback."""

    def run(*_words: object, **_how: object) -> None:
        raise broken

    monkeypatch.setattr("subprocess.run", run)
    assert zimit_engine._asked("info") is None
