"""A scrapyd of the shipped configuration, in an environment that has the dependencies and not the project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import time
import venv
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection
from typing import TYPE_CHECKING, Any

import requests
from attrs import frozen

from tests.servers import Server, free_port, server_folder

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

ROOT = Path(__file__).parents[2]
LOGIN = ("deployer", "a password")
PROJECT = "vitrine"
WAIT_SECONDS = 180.0
# A shell has what it starts in the background ignore the interrupt, by which a server is ended.
STARTING = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("scrapyd", run_name="__main__")
"""
# What an installation of the project, editable or not, leaves in an environment.
_OURS = re.compile(r"(__editable__.*|.*\.pth|vitrine-.*|crawler|__pycache__)", re.IGNORECASE)


@frozen
class Scrapyd:
    """A scrapyd that runs, spoken to over HTTP."""

    url: str
    folder: Path  # /var/lib/vitrine of its machine

    def ask(self, service: str, **given: Any) -> dict[str, Any]:
        """Call a service; with arguments it is told to do something."""
        url = f"{self.url}{service}.json"
        if service in {"schedule", "cancel"}:
            answer = requests.post(url, data=given, auth=LOGIN, timeout=60)
        else:
            answer = requests.get(url, params=given, auth=LOGIN, timeout=60)
        said: dict[str, Any] = answer.json()
        assert said["status"] == "ok", said
        return said

    def schedule(self, spider: str, *settings: str, **arguments: str) -> str:
        """Schedule a job; its id."""
        said = self.ask("schedule", project=PROJECT, spider=spider, setting=list(settings), **arguments)
        return str(said["jobid"])

    def state(self, job: str) -> str:
        """Whether a job is pending, running or finished."""
        return str(self.ask("status", project=PROJECT, job=job)["currstate"])

    def wait(self, *jobs: str, until: str = "finished") -> None:
        """Wait until all of these are at that state."""
        give_up = time.monotonic() + WAIT_SECONDS
        while any(self.state(job) != until for job in jobs):
            assert time.monotonic() < give_up, [self.log(job) for job in jobs]
            time.sleep(0.1)

    def log(self, job: str) -> str:
        """What a job logged."""
        return "".join(file.read_text() for file in self.folder.glob(f"scrapyd/logs/*/*/{job}.log"))

    def own_log(self) -> str:
        """What scrapyd itself logged."""
        return (self.folder / "server.log").read_text(errors="replace")


def bare_python(folder: Path) -> Path:
    """The interpreter of a new environment that has what ours has, without this project."""
    venv.EnvBuilder(symlinks=True).create(folder)
    theirs = next((folder / "lib").glob("python*/site-packages"))
    for place in dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")):
        for each in Path(place).iterdir():
            if not _OURS.fullmatch(each.name) and not (theirs / each.name).exists():
                (theirs / each.name).symlink_to(each)
    return folder / "bin" / "python"


@contextmanager
def own_scrapyd(python: Path, environment: Mapping[str, str]) -> Generator[Scrapyd]:
    """A scrapyd that runs for the length of the block; jobs find `environment`, and nothing else of ours."""
    with server_folder() as folder:
        port = free_port()
        url = f"http://127.0.0.1:{port}/"
        (folder / "scrapyd").mkdir()
        (folder / "scrapyd" / "scrapyd.conf").write_text(_configuration(folder))
        said = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "VITRINE_HOME": str(folder),
            "SCRAPYD_HTTP_PORT": url.rpartition(":")[2].strip("/"), "SCRAPYD_USERNAME": LOGIN[0],
            "SCRAPYD_PASSWORD": LOGIN[1], **environment,
        }  # fmt: skip
        words = [f"{name}={value}" for name, value in said.items()]
        in_its_folder = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(folder / "scrapyd")]
        command = [*in_its_folder, "env", "-i", *words, str(python), "-c", STARTING]
        # requests has a ConnectionError of its own, which is none of Python's.
        with Server(command, folder, port, url, lambda: create_connection(("127.0.0.1", port), 5).close()):
            yield Scrapyd(url, folder)


def _configuration(folder: Path) -> str:
    """The shipped one, for a machine whose /var/lib/vitrine is `folder`; nobody waits for its poller here."""
    text = (ROOT / "deploy" / "scrapyd.conf").read_text()
    assert "/var/lib/vitrine/" in text
    return text.replace("/var/lib/vitrine/", f"{folder}/").replace("= 5.0", "= 0.1")


def clone(folder: Path) -> Path:
    """The files of this working tree that git knows or would take, and no others."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder


def deploy(tree: Path, scrapyd: Scrapyd, version: str) -> str:
    """Run `scrapyd-deploy` in a tree whose scrapy.cfg names the server; what it said."""
    example = (ROOT / "scrapy.cfg").read_text()
    (tree / "scrapy.cfg").write_text(re.sub(r"(?m)^url = .*", f"url = {scrapyd.url}", example))
    command = [sys.executable, "-m", "scrapyd_client.deploy", "-v", version]
    environment = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    environment |= {"SCRAPYD_USERNAME": LOGIN[0], "SCRAPYD_PASSWORD": LOGIN[1]}
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
