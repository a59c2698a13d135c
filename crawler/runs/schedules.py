"""When something is to begin, as a crontab says it, and as systemd does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

NAMED = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?P<first>\*|\d+|[a-z]{3})(?:-(?P<last>\d+|[a-z]{3}))?(?:/(?P<step>\d+))?")


class ScheduleError(ValueError):
    """A text that is no schedule; the message says why."""


@frozen
class Field:
    """One of a crontab's five fields: which values it takes, and what they are called."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()

    def values(self, text: str) -> tuple[int, ...]:
        """The values that a field's text names, in order."""
        found: set[int] = set()
        for part in text.split(","):
            found.update(self._of_part(part))
        return tuple(sorted(found))

    def _of_part(self, part: str) -> range:
        match = _PART.fullmatch(part.lower())
        if match is None:
            raise ScheduleError(f"{part!r} is no {self.name}")
        if match["first"] == "*":
            first, last = self.least, self.most
        else:
            first = self._number(match["first"])
            last = self._number(match["last"]) if match["last"] else self.most if match["step"] else first
        step = int(match["step"] or 1)
        if first > last or step < 1:
            raise ScheduleError(f"{part!r} holds no {self.name}")
        return range(first, last + 1, step)

    def _number(self, word: str) -> int:
        if word in self.names:
            return self.names.index(word) + self.least
        if not word.isdecimal() or not self.least <= int(word) <= self.most:
            raise ScheduleError(f"{word!r} is no {self.name}")
        return int(word)


FIELDS = (
    Field("minute", 0, 59),
    Field("hour", 0, 23),
    Field("day of the month", 1, 31),
    Field("month", 1, 12, _MONTHS),
    Field("day of the week", 0, 7, _DAYS),
)


@frozen
class Schedule:
    """The moments at which something begins, by the clock of the machine."""

    cron: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]  # 0: Sunday

    @classmethod
    def of(cls, text: str) -> Self:
        """The schedule that five fields say, or one of cron's names for some of them."""
        fields = NAMED.get(text.strip().lower(), text).split()
        if len(fields) != len(FIELDS):
            raise ScheduleError(f"{text!r} has not the five fields of a crontab")
        minutes, hours, days, months, weekdays = (
            field.values(part) for field, part in zip(FIELDS, fields, strict=True)
        )
        if not fields[2].startswith("*") and not fields[4].startswith("*"):
            raise ScheduleError(
                f"{text!r} names days of the month and of the week: cron takes either, systemd both"
            )
        return cls(" ".join(fields), minutes, hours, days, months, _week(weekdays))

    @property
    def on_calendar(self) -> str:
        """The same moments in systemd's words."""
        week = "" if len(self.weekdays) == len(_DAYS) else _spelt(self.weekdays, _day_name) + " "
        date = f"*-{_or_any(self.months, 3)}-{_or_any(self.days, 2)}"
        return f"{week}{date} {_or_any(self.hours, 1)}:{_or_any(self.minutes, 0)}:00"


def _week(days: tuple[int, ...]) -> tuple[int, ...]:
    """Sunday is 0 and 7."""
    return tuple(sorted({day % len(_DAYS) for day in days}))


def _day_name(day: int) -> str:
    return _DAYS[day].capitalize()


def _or_any(values: tuple[int, ...], field: int) -> str:
    if len(values) == FIELDS[field].most - FIELDS[field].least + 1:
        return "*"
    return _spelt(values, "{:02d}".format)


def _spelt(values: tuple[int, ...], name: Callable[[int], str]) -> str:
    return ",".join(name(value) for value in values)
