"""The engine `zimit`: openZIM's crawler in a Docker container of its own name.

Written from its public sources and Browsertrix's; what the container does is tested against a stub that
speaks the same contract.
"""

from __future__ import annotations

import os
import shutil
import subprocess  # ruff: ignore[suspicious-subprocess-import] - Docker is a program
from typing import TYPE_CHECKING

from crawler.config import load_settings
from crawler.engines.engine import InfrastructureError, Stage
from crawler.engines.process import Launch
from crawler.engines.state import temp_folders, warc_files, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.engines.flags import ToolOrder

DOCKER = "docker"
DOCKER_SECONDS = 20.0
STOP_SECONDS = 90
RESUME_FILE = ".zimit_resume.yaml"  # a copy that outlives the temporary folder it was found in
SEEDS_FILE = ".zimit_seeds.txt"
MAX_ARGUMENT_CHARS = 100_000
MAX_RESUME_BYTES = 256 * 1024 * 1024
LIMITS = {
    12: Stage.LIMIT_HIT,
    14: Stage.LIMIT_HIT,
    15: Stage.LIMIT_HIT,
    32: Stage.LIMIT_HIT,
    33: Stage.LIMIT_HIT,
}
# Browsertrix's codes (0 done, 3 and 16 disk, 9 failed, 10 browser, 11 and 13 interrupted, 17 fatal, 18 rate
# limited, 21 proxy), zimit's older ones for limits, and Docker's own; any other is a failure.
STAGES = {
    0: Stage.COMPLETED, 3: Stage.INFRASTRUCTURE, 16: Stage.INFRASTRUCTURE, 21: Stage.INFRASTRUCTURE,
    11: Stage.INTERRUPTED, 13: Stage.INTERRUPTED, 130: Stage.INTERRUPTED, 143: Stage.INTERRUPTED,
    125: Stage.INFRASTRUCTURE, 126: Stage.INFRASTRUCTURE, 127: Stage.INFRASTRUCTURE, **LIMITS,
}  # fmt: skip
_DISK_WORDS = (
    "no space left on device",
    "stale file handle",
    "transport endpoint is not connected",
    "input/output error",
)


class ZimitEngine:
    """One container at a time; those of older attempts are removed first."""

    def __init__(self, order: ToolOrder, folder: Path) -> None:
        self.order = order
        self.folder = folder
        self.image = load_settings().zimit_image
        job = os.environ.get("VITRINE_JOB", "")
        self._prefix = f"vitrine-job-{job if job.isalnum() else order.name}-"
        epoch = os.environ.get("VITRINE_EPOCH", "")
        self._epoch = epoch if epoch.isdecimal() else str(os.getpid())

    def require(self) -> None:
        """Docker has to be there and to answer."""
        if shutil.which(DOCKER) is None:
            raise InfrastructureError("docker is not on the PATH", hint="the engine zimit runs in Docker")
        if _asked("info", "--format", "{{.ServerVersion}}") is None:
            raise InfrastructureError(
                "docker does not answer", hint="start its daemon: `docker info` has to work"
            )

    def launch(self, number: int, workers: int) -> Launch:
        """Return how an attempt is started, which goes on with an earlier one that left its configuration.

        `number` counts the attempts over all starts of the tool.
        """
        self._remove_older()
        name = f"{self._prefix}{self._epoch}-{number}"
        resume = self._resume_file()
        goes_on = ["--config", f"/output/{RESUME_FILE}"] if resume else []
        zimit = [
            "zimit", *self._seeds(), "--name", self.order.name, "--workers", str(workers),
            "--keep", "--output", "/output", *goes_on, *self.order.passthrough,
        ]  # fmt: skip
        return self._container(name, zimit)

    def came_to(self, code: int, tail: Sequence[str]) -> Stage:
        """By the table; a disk that is full is one whatever the code."""
        said = "\n".join(tail).lower()
        if code and any(word in said for word in _DISK_WORDS):
            return Stage.INFRASTRUCTURE
        return STAGES.get(code, Stage.FAILED)

    def final_zim(self) -> Launch | None:
        """After several attempts each has its WARCs; zimit makes one file of all."""
        inside = [f"/output/{path.relative_to(self.folder)}" for path in warc_files(self.folder)]
        if len(temp_folders(self.folder)) < 2:  # ruff: ignore[magic-value-comparison] - of several
            return None
        zimit = ["zimit", "--warcs", ",".join(inside), "--name", self.order.name, "--output", "/output"]
        return self._container(f"{self._prefix}{self._epoch}-zim", zimit)

    def _seeds(self) -> list[str]:
        """In one argument, where a seed's own comma is written otherwise; more than fits one in a file."""
        seeds = ",".join(seed.replace(",", "%2C") for seed in self.order.seeds)
        if len(seeds) <= MAX_ARGUMENT_CHARS:
            return ["--seeds", seeds]
        write_atomically(self.folder / SEEDS_FILE, "\n".join(self.order.seeds).encode(), 0o644)
        return ["--seedFile", f"/output/{SEEDS_FILE}"]

    def _container(self, name: str, command: Sequence[str]) -> Launch:
        run = [DOCKER, "run", "--rm", "--name", name, "-v", f"{self.folder}:/output", self.image, *command]
        # `docker run` is a client: without it the container would live on.
        return Launch(
            run, grace=STOP_SECONDS + DOCKER_SECONDS,
            last_orders=([DOCKER, "stop", "-t", "5", name], [DOCKER, "rm", "-f", name]),
        )  # fmt: skip

    def _remove_older(self) -> None:
        listed = _asked("ps", "-a", "--filter", f"name=^/?{self._prefix}", "--format", "{{.Names}}") or ""
        for name in listed.split():
            if name.startswith(self._prefix):
                _asked("rm", "-f", name)

    def _resume_file(self) -> Path | None:
        """The newest configuration to go on with, copied where the next attempt still finds it."""
        stable = self.folder / RESUME_FILE
        found = [
            path
            for folder in temp_folders(self.folder)
            for path in folder.glob("collections/crawl-*/crawls/*.yaml")
            if path.is_file() and not path.is_symlink() and 0 < path.stat().st_size <= MAX_RESUME_BYTES
        ]  # fmt: skip
        newest = max(found, key=lambda path: path.stat().st_mtime, default=None)
        if newest is not None:
            write_atomically(stable, newest.read_bytes())
        return stable if stable.is_file() and not stable.is_symlink() else None


def _asked(*words: str) -> str | None:
    """What Docker answers; None where it does not."""
    try:
        done = subprocess.run(  # ruff: ignore[subprocess-without-shell-equals-true] - our own words
            [DOCKER, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DOCKER_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
