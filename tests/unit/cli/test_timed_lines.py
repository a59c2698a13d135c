"""What cron and systemd are told is taken as it is meant, whatever is in a path or a name."""

from __future__ import annotations

import shlex
from pathlib import Path

from crawler.cli.timed_lines import Lasting, Place, Timed, crontab, units
from crawler.runs.schedules import Schedule

ODD = "/srv/a b%c'd$e"
TIMED = Timed("vitrine-shop", "the shop, 100%", ("crawl", "site", "a%b", "it's"), Schedule.of("30 4 * * *"))
WORKER = Lasting("vitrine-worker", "jobs", ("worker",), is_patient=True)
WEB = Lasting("vitrine-web", "the web side", ("serve",))


def a_place(**environment: str) -> Place:
    """A folder and a program with all that is awkward in their names."""
    return Place(Path(ODD), Path(f"{ODD}/vitrine"), "me", (Path(f"{ODD}/var"),), environment)


def test_a_line_of_cron_is_one_shell_command() -> None:
    """Cron itself ends a line at a percent sign, so each is escaped for it; the shell has it back."""
    about, line = crontab([TIMED], a_place(A="x y"))
    assert about == "# the shop, 100%"
    schedule, _, command = line.partition("  ")
    assert schedule == "30 4 * * *"
    assert "%" not in command.replace(r"\%", "")
    assert shlex.split(command.replace(r"\%", "%")) == [
        "cd", ODD, "&&", "A=x y", f"{ODD}/vitrine", "-q", "crawl", "site", "a%b", "it's", ">/dev/null",
    ]  # fmt: skip


def test_a_unit_says_its_words_as_systemd_reads_them() -> None:
    """Quoted where they have to be, percent and dollar signs doubled."""
    files = units([TIMED], [WORKER, WEB], a_place(A='x "y"'))
    service = files["vitrine-shop.service"].splitlines()
    assert 'ExecStart="/srv/a b%%c\'d$$e/vitrine" crawl site a%%b "it\'s"' in service
    assert 'Environment="A=x \\"y\\""' in service
    assert "Description=Vitrine: the shop, 100%%" in service
    assert "WorkingDirectory=/srv/a b%%c'd$e" in service
    assert "OnCalendar=" in files["vitrine-shop.timer"]
