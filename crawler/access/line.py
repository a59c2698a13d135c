"""Sessions of one domain stand in line inside a process, and never compete with each other for its lock."""

from __future__ import annotations

from threading import Lock


class Place:
    """One session's place in the line for a domain."""

    def __init__(self, line: Line, domain: str) -> None:
        self._line = line
        self.domain = domain

    def is_first(self) -> bool:
        """Whether it is this session's turn."""
        return self._line.first(self.domain) is self

    def leave(self) -> None:
        """Let the next one come up; leaving twice is no matter."""
        self._line.drop(self)


class Line:
    """Who waits for which domain in this process, in the order of coming."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._places: dict[str, list[Place]] = {}

    def join(self, domain: str) -> Place:
        """The last place in the line for a domain."""
        place = Place(self, domain)
        with self._guard:
            self._places.setdefault(domain, []).append(place)
        return place

    def first(self, domain: str) -> Place | None:
        """Whose turn it is."""
        with self._guard:
            places = self._places.get(domain)
            return places[0] if places else None

    def drop(self, place: Place) -> None:
        """Take a place out of its line."""
        with self._guard:
            places = self._places.get(place.domain, [])
            if place in places:
                places.remove(place)
            if not places:
                self._places.pop(place.domain, None)
