"""What every test shares."""

import signal
import threading

from hypothesis import HealthCheck, settings

# How fast a machine is says nothing about what is tried on it.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

pytest_plugins = [
    "tests.databases",
    "tests.example_plugins",
    "tests.programs.browser",
    "tests.programs.clock",
    "tests.programs.peers",
    "tests.soak",
]


def pytest_configure() -> None:
    """Have a run that is told to end take its processes along, by whichever signal."""
    if threading.current_thread() is threading.main_thread():
        # A shell has what it starts in the background ignore the interrupt.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.default_int_handler)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Keep what is packed out of the names of tests: it says when, and processes would differ in them."""
    return "packed" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None
