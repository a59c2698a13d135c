"""Schedules: five fields of a crontab, said again in systemd's words."""

from __future__ import annotations

import re

import pytest

from crawler.runs.schedules import Schedule, ScheduleError

SAID = {
    "0 3 * * 1": "Mon *-*-* 03:00:00",
    "*/15 * * * *": "*-*-* *:00,15,30,45:00",
    "@daily": "*-*-* 00:00:00",
    "@Weekly": "Sun *-*-* 00:00:00",
    "17 * * * 7": "Sun *-*-* *:17:00",
    "5,35 1-3 * jan-mar *": "*-01,02,03-* 01,02,03:05,35:00",
    "0 6 * * mon-wed,SAT": "Mon,Tue,Wed,Sat *-*-* 06:00:00",
    "0 6 * * 0-7": "*-*-* 06:00:00",
}
REFUSED = {
    "60 3 * * *": "'60' is no minute",
    "0 24 * * *": "'24' is no hour",
    "0 3 * foo *": "'foo' is no month",
    "0 3 * * 8": "'8' is no day of the week",
    "0 5-3 * * *": "'5-3' holds no hour",
    "*/0 * * * *": "'*/0' holds no minute",
    "0 3 -1 * *": "'-1' is no day of the month",
    "0 3 1 * 1": "cron takes either, systemd both",
}


@pytest.mark.parametrize("cron", SAID)
def test_the_same_moments_in_systemds_words(cron: str) -> None:
    """Lists, ranges, steps and names; every day of the week is no condition."""
    assert Schedule.of(cron).on_calendar == SAID[cron]


@pytest.mark.parametrize("cron", REFUSED)
def test_what_is_no_schedule(cron: str) -> None:
    """Refused with the part that is wrong; and what the two would take differently."""
    with pytest.raises(ScheduleError, match=re.escape(REFUSED[cron])):
        Schedule.of(cron)


def test_a_schedule_keeps_its_fields_for_cron() -> None:
    """Names are written out, blanks are one."""
    assert Schedule.of(" @hourly ").cron == "0 * * * *"
    assert Schedule.of("0  3\t* * mon").cron == "0 3 * * mon"
