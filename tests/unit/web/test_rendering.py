"""Templates and static files as they lie in the package."""

from __future__ import annotations

import hashlib

import pytest
from jinja2 import UndefinedError

from crawler.web.rendering import STATIC_TYPES, digest_of, environment, static_file, static_url


def test_every_template_can_be_read() -> None:
    """Each parses, and knows the filters that it uses."""
    names = environment().list_templates()
    assert len(names) > 20
    for name in names:
        environment().get_template(name)


def test_what_is_shown_is_escaped_and_what_is_missing_is_told() -> None:
    """A name that a page forgot is an error of ours, and no empty place."""
    made = environment().from_string("<p>{{ said }}</p>{{ size|size }}")
    assert made.render(said="<script>", size=10) == "<p>&lt;script&gt;</p>10 bytes"
    with pytest.raises(UndefinedError):
        made.render(size=10)


@pytest.mark.parametrize("name", ["", ".", "..", "../app.py", "nothing.css", "vitrine.css/", "\x00"])
def test_nothing_else_is_a_static_file(name: str) -> None:
    """No way leads out of their folder."""
    assert static_file(name) is None
    assert digest_of(name) == hashlib.sha256(b"").hexdigest()[:16]


def test_an_address_is_of_what_the_file_says() -> None:
    """So it may be kept for as long as it is the same."""
    body = static_file("vitrine.css")
    assert body
    assert static_url("vitrine.css") == f"/static/vitrine.css?v={hashlib.sha256(body).hexdigest()[:16]}"
    assert ".css" in STATIC_TYPES
