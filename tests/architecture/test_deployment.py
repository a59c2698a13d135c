"""What is written for containers says what the code says; no container engine is needed to see that."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler.cli.app import complete_app
from crawler.config import Settings
from crawler.rendering.chromium import DEBIAN_PACKAGES
from tests.architecture.test_house_rules import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE_TEXT = (ROOT / "compose.yaml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
ENV = (ROOT / "deploy" / "compose.env.example").read_text(encoding="utf-8")
NGINX = (ROOT / "deploy" / "nginx" / "vitrine.conf").read_text(encoding="utf-8")
OURS = {name: service for name, service in COMPOSE["services"].items() if service["image"] == "vitrine"}
# What the images of others and scrapyd are told; the rest are settings of the project, or Scrapy's one.
THEIRS = re.compile(r"POSTGRES_\w+|SCRAPYD_(?:BIND_ADDRESS|USERNAME|PASSWORD)|SCRAPY_SETTINGS_MODULE")


def commands() -> list[list[str]]:
    """What the services call of `vitrine`."""
    words = [service["command"] for service in OURS.values() if "entrypoint" not in service]
    loops = " ".join(OURS[clock]["command"][0] for clock in ("cleanup", "notify"))
    return [*words, *(shlex.split(each) for each in re.findall(r"vitrine ([^;]+);", loops))]


def test_every_service_is_shut_in() -> None:
    """Nothing but the data and /tmp can be written, and no right is held that is not needed."""
    for service in OURS.values():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        data, *others = service["volumes"]
        assert data == "data:/var/lib/vitrine"
        assert all(each["read_only"] for each in others)
    published = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_every_variable_is_known() -> None:
    """A setting of the project or of a part, and what the operator fills in stands in the example."""
    said = {name for service in COMPOSE["services"].values() for name in service.get("environment", {})}
    settings = {name.upper() for name in Settings.model_fields}
    assert {name for name in said if not THEIRS.fullmatch(name)} <= settings
    asked = set(re.findall(r"\$\{(\w+)", COMPOSE_TEXT))
    assert asked == set(re.findall(r"^(\w+)=", ENV, re.MULTILINE))


def test_what_the_operator_writes_reaches_every_service() -> None:
    """All settings of `.env`, and the sources, of which a missing file is an error and no folder is made."""
    for service in OURS.values():
        assert service["env_file"] == [".env"]
        [sources] = [each for each in service["volumes"] if isinstance(each, dict)]
        assert sources["target"] == service["environment"]["SOURCES_FILE"]
        assert (sources["source"], sources["bind"]) == ("./sources.toml", {"create_host_path": False})


def test_chromium_can_shield_itself() -> None:
    """Where pages are rendered: it needs memory to share, and namespaces, which the engine forbids."""
    profile = json.loads((ROOT / "deploy" / "chromium-seccomp.json").read_text(encoding="utf-8"))
    denied = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert {rule["action"] for rule in profile["syscalls"]} == {"SCMP_ACT_ERRNO"}
    assert not denied & {"clone", "clone3", "unshare", "setns", "chroot", "seccomp", "prctl"}
    assert {"mount", "bpf", "keyctl", "ptrace", "io_uring_setup", "finit_module"} <= denied
    for name, service in OURS.items():
        renders = name in {"fleet", "worker", "scrapyd"}
        assert ("seccomp:deploy/chromium-seccomp.json" in service["security_opt"]) is renders
        assert ("shm_size" in service) is renders
        assert "no-new-privileges:true" in service["security_opt"]


def test_a_fleet_s_worker_begins_anew_each_day() -> None:
    """It ends by itself, and is started again."""
    fleet = OURS["fleet"]
    assert fleet["restart"] == "unless-stopped"
    assert "CLOSESPIDER_TIMEOUT=86400" in fleet["command"]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_there(words: list[str]) -> None:
    """With the options that it is given."""
    from typer.main import get_command  # ruff: ignore[import-outside-top-level] - the tests of the map need none

    command: Any = get_command(complete_app())
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert [word for word in words if word.startswith("--") and word not in known] == []


def test_the_image_is_made_of_what_is_there() -> None:
    """Folders and files that are copied, and the packages of the browser."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    assert [name for line in copied for name in line.split() if not (ROOT / name).exists()] == []
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    assert [name for line in copied for name in line.split() if f"!{name.rstrip('/')}\n" not in ignored] == []
    assert f"--no-install-recommends {' '.join(DEBIAN_PACKAGES)} " in DOCKERFILE
    assert DOCKERFILE.index("USER vitrine") < DOCKERFILE.index("ENTRYPOINT")


def test_scrapyd_is_locked_with_what_it_needs() -> None:
    """It adds one package to those that a crawl needs, the same that the tests run."""
    [name] = re.findall(r"^(\S+==\S+)", (ROOT / "requirements" / "scrapyd.txt").read_text(), re.MULTILINE)
    assert f"\n{name} " in (ROOT / "requirements" / "dev.txt").read_text()


def test_the_two_origins_are_the_settings() -> None:
    """What nginx answers for is what the web side is told, and archived pages have an origin of their own."""
    hosts = re.findall(r"server_name (\S+);", NGINX)
    web = OURS["web"]["environment"]
    assert [host in web["PUBLIC_HOSTS"] for host in hosts] == [True, True]
    assert hosts[1] in web["REPLAY_BASE_URL"]


@pytest.mark.soak
def test_each_step_of_the_image_can_be_run(tmp_path: Path) -> None:
    """The steps that install the project, with the image's folders moved to another place."""
    stage = DOCKERFILE.partition("AS build")[2].partition("\nFROM")[0]
    steps = re.findall(r"^RUN (.+?)(?=\n(?! &&))", stage + "\n", re.MULTILINE | re.DOTALL)
    assert len(steps) == 2
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for step in steps:
        command = step.replace("\\\n", " ").replace("/opt/", f"{tmp_path}/opt/")
        (tmp_path / "opt").mkdir(exist_ok=True)
        subprocess.run(["/bin/sh", "-ec", command], cwd=ROOT, env=environment, check=True, timeout=600)
    called = [str(tmp_path / "opt/vitrine/bin/vitrine"), "--version"]
    assert b"vitrine" in subprocess.run(called, cwd=tmp_path, capture_output=True, check=True).stdout
    assert (tmp_path / "opt/scrapyd/bin/scrapyd").exists()
