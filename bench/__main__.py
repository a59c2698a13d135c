"""`python -m bench [NAME]…`: run the benchmarks, each in an interpreter of its own."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent
USAGE = 2


def main(names: list[str]) -> int:
    """Run what is named, or everything; 0 when all of it ran."""
    known = names_of(FOLDER)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.stderr.write(f"error[usage]: there is no benchmark {unknown[0]!r}\n")
        sys.stderr.write(f"hint: there are {', '.join(known)}\n")
        return USAGE
    if len(names) == 1:
        del sys.argv[1:]  # a benchmark's own words come behind its own name: `python -m bench.slice --short`
        import_module(f"bench.{names[0]}").main()
        return 0
    # One that has run would warm up, or weigh down, the next.
    return max([_run_apart(name) for name in names or known], default=0)


def names_of(folder: Path) -> list[str]:
    """The benchmarks of a folder: its modules whose `main()` takes nothing."""
    modules = (path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_"))
    return [path.stem for path in modules if "\ndef main() -> None:" in path.read_text(encoding="utf-8")]


def _run_apart(name: str) -> int:
    print(f"── {name} ──", flush=True)
    return subprocess.run([sys.executable, "-m", "bench", name], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
