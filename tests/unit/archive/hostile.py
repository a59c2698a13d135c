"""Forty pages that want to act where they are shown: each asks a canary for something, or runs a script."""

from __future__ import annotations

from pathlib import Path

CANARY = "http://canary.example"
_FILE = Path(__file__).with_name("hostile_pages.txt")
_CHARACTERS = {"TAB": "\t", "SOH": "\x01", "NUL": "\x00", "LF": "\n"}


def hostile_pages(canary: str = CANARY) -> dict[str, bytes]:
    """The pages by what is hostile in them; `canary` is the address of a server that must never be asked."""
    written = {"RUN": f"new Image().src='{canary}/ran'", **_CHARACTERS}
    written |= {"CANARY": canary, "HOST": canary.removeprefix("http://")}
    text = _FILE.read_text(encoding="utf-8")
    for name, value in written.items():
        text = text.replace("{" + name + "}", value)
    parts = (part.partition("\n") for part in text.split("== ")[1:])
    pages = {name: page.encode() for name, _, page in parts}
    pages["utf-16"] = pages["scripts in every place"].decode().encode("utf-16")
    return pages
