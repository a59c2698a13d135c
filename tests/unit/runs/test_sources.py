"""Sources: what the file may say, what is said about one that is wrong, and what a run keeps of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from crawler.errors import BadUrlError, ConfigError, CrawlerError, UsageError
from crawler.html.content import Ignored
from crawler.runs.source_keys import KEYS
from crawler.runs.sources import (
    Source,
    find_source,
    ignored_by_source,
    known_sources,
    load_sources,
    oddities,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"```toml\n(.+?)```", PAGE, re.DOTALL)
SHORT = '[sources.cups]\nstart_urls = ["https://www.cups.example/", "https://cups.example/sale"]\n'


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a file of sources."""

    def write_it(text: str) -> Path:
        path = tmp_path / "sources.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_it


def test_the_example_of_the_documentation_says_everything(write: Callable[[str], Path]) -> None:
    """It can be copied, nothing about it is odd, and it has each key that there is."""
    assert EXAMPLE is not None
    sources = load_sources(write(EXAMPLE[1]))
    assert [oddities(source, ("page", "product", "media")) for source in sources.values()] == [()] * 3
    assert [
        key for key in KEYS if not re.search(rf"^({key} = |\[sources.cups.{key}\])", EXAMPLE[1], re.MULTILINE)
    ] == []
    assert [key for key in KEYS if f"| `{key}` |" not in PAGE] == []


def test_a_source_needs_no_more_than_a_start(write: Callable[[str], Path]) -> None:
    """The rest has defaults; the domains are those of the start URLs, in one spelling and once."""
    starts = ("https://www.cups.example/", "https://cups.example/sale")
    assert load_sources(write(SHORT))["cups"] == Source("cups", "cups", starts, ("cups.example",))
    text = SHORT + 'allowed_domains = ["WWW.Cups.example", "cups.example", "*.Bücher.example"]\ndepth = 0\n'
    source = load_sources(write(text))["cups"]
    assert source.allowed_domains == ("cups.example", "*.xn--bcher-kva.example")
    assert source.depth == 0


WRONG = [
    ("max_page = 5", "there is no key 'max_page'", "the keys are name, start_urls, "),
    (
        'start_urls = "https://cups.example/"',
        "start_urls: 'https://cups.example/' is no list",
        "start_urls takes",
    ),
    ("start_urls = []", "start_urls: a list of 0", "one at least"),
    ('start_urls = ["ftp://cups.example/"]', "start_urls: 'ftp://cups.example/' is not an http", ""),
    (
        'start_urls = ["https://u:geheim@cups.example/"]',
        "start_urls: 'https://u:***@cups.example/' has a",
        "",
    ),
    ("start_urls = [1]", "start_urls: 1 is no text", ""),
    (
        'allowed_domains = ["https://cups.example"]',
        "allowed_domains: 'https://cups.example' is not",
        "*.shop",
    ),
    ("allowed_domains = []", "allowed_domains: a list of 0", ""),
    (
        'allow = ["products/**"]',
        "allow: 'products/**' does not begin with \"/\"",
        "allow takes a list of paths",
    ),
    ('deny = ["/a", "/b/../c"]', "deny: '/b/../c' has a", ""),
    ("depth = -1", "depth: -1 is out of its range", "depth takes a whole number from 0 to 1000"),
    ("depth = 1001", "depth: 1001 is out of its range", ""),
    ("depth = true", "depth: True is no whole number", ""),
    ("max_pages = 0", "max_pages: 0 is out of its range", ""),
    ('max_pages = "many"', "max_pages: 'many' is no whole number", ""),
    ('plugins = ["a b"]', "plugins: 'a b' is no plugin's name", ""),
    ('render = "auto"', "render: 'auto' is not possible", 'render takes "no"'),
    (
        "fetch_timeout_seconds = nan",
        "fetch_timeout_seconds: nan is out of its range",
        "a number from 1 to 600",
    ),
    ("jitter_seconds = -0.1", "jitter_seconds: -0.1 is out of its range", ""),
    ('jitter_seconds = "1"', "jitter_seconds: '1' is no number", ""),
    ("max_retries = 0", "max_retries: 0 is out of its range", "a whole number from 1 to 20"),
    ('name = ""', "name: '' is no name", ""),
    ('name = "' + "x" * 300 + '"', "name: 'xxx", ""),
    ("enabled = 1", "enabled: ", ""),
    ('engine = "wget"', "engine: ", "one of vitrine, zimit"),
    ('engine = "zimit"\njitter_seconds = 1', "jitter_seconds is for the engine vitrine", "leave it out"),
    ('job_name = "{title}"', "job_name: ", ""),
    ('ignore_selectors = ["p["]', "ignore_selectors: ", ""),
    ('schedule = "every day"', "schedule: ", ""),
    ('job = ["--depth"]', "job: ", ""),
]


@pytest.mark.parametrize(("line", "said", "hint"), WRONG, ids=[line[:40] for line, _, _ in WRONG])
def test_a_wrong_value_is_named(write: Callable[[str], Path], line: str, said: str, hint: str) -> None:
    """In one line: the file, the source, the key, what is wrong; and below, what would be right."""
    key = line.partition(" ")[0]
    kept = "" if key == "start_urls" else 'start_urls = ["https://cups.example/"]\n'
    path = write(f"[sources.cups]\n{kept}{line}\n")
    with pytest.raises(ConfigError) as caught:
        load_sources(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: source 'cups': {said}")
    assert hint in caught.value.hint
    assert caught.value.hint
    assert "\n" not in message
    assert len(message) < len(str(path)) + 200


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[sources.cups]\nname = 'Cups'\n", "source 'cups': start_urls is missing", "start_urls = ["),
        ("[sources.cups.example]\nname = ''\n", "source 'cups': there is no key 'example'", '"cups.example"'),
        ("[cups]\nname = 'x'\n", "there is no place for 'cups'", "[sources.CODE]"),
        ("sources = 1\n", "sources is no table", "[sources.CODE]"),
        ("[[sources]]\n", "sources is no table", "[sources.CODE]"),
        ("sources.cups = 1\n", "source 'cups' is no table", "[sources.cups]"),
        ("[sources.' x']\n", "source ' x' has a code that is no code", "letters, digits"),
        ("[sources.cups\n", "is not TOML: ", "docs/sources.md"),
        ("[sources.a]\n[sources.a]\n", "is not TOML: ", "docs/sources.md"),
        ("a = " + "[" * 5000, "is not TOML: ", "docs/sources.md"),
        ("a = " + "9" * 5000, "is not TOML: ", "docs/sources.md"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_told_in_a_line(
    write: Callable[[str], Path], text: str, said: str, hint: str
) -> None:
    """Whatever is wrong with it."""
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        load_sources(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert hint in caught.value.hint


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Is not there, is a folder, is no text."""
    with pytest.raises(ConfigError, match="there is no file"):
        load_sources(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_sources(tmp_path)
    (tmp_path / "latin.toml").write_bytes("name = 'Töpfe'".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_sources(tmp_path / "latin.toml")


def test_a_source_is_found_by_its_code(write: Callable[[str], Path]) -> None:
    """One that is not there is answered with those that are."""
    path = write(SHORT)
    assert find_source(path, "cups").code == "cups"
    with pytest.raises(UsageError) as caught:
        find_source(path, "pots")
    assert (caught.value.exit_code, caught.value.hint) == (2, "it has: cups")


def test_a_run_keeps_its_source() -> None:
    """As JSON, and back again; a plan of an older program has the defaults for what it did not know."""
    source = evolve(
        Source.of_url("https://cups.example/", max_pages=5, depth=2), deny=("/x/**",), jitter_seconds=0.5
    )
    plan = json.loads(json.dumps(source.as_plan()))
    assert Source.of_plan(plan) == source
    older = {name: plan[name] for name in ("code", "name", "start_urls", "allowed_domains")}
    assert Source.of_plan({**older, "of_tomorrow": 1}) == Source.of_url("https://cups.example/")


def test_a_url_alone_is_a_source() -> None:
    """Of its domain, and of nothing else."""
    source = Source.of_url(" https://www.cups.example:8443/shop/ ", max_pages=7)
    assert (source.code, source.max_pages, source.depth) == ("cups.example:8443", 7, None)
    assert source.start_urls == ("https://www.cups.example:8443/shop/",)
    assert source.scope.judge("https://cups.example:8443/p") is None
    assert source.scope.judge("https://cups.example/p") == "filtered by domain rules"
    with pytest.raises(BadUrlError):
        Source.of_url("ftp://cups.example/")


def odd_keys(**changes: Any) -> list[str]:
    """The keys of what is odd about a source."""
    source = evolve(Source.of_url("https://cups.example/"), **changes)
    return [oddity.key for oddity in oddities(source, ("page", "product"))]


def test_what_is_odd_about_a_source() -> None:
    """A start that is out of scope, a rule that allows nothing, a plugin that is not there."""
    assert odd_keys() == []
    assert odd_keys(allow=("/p/**",)) == ["start_urls"]
    assert odd_keys(deny=("/**",)) == ["start_urls"]
    assert odd_keys(allowed_domains=("pots.example",)) == ["start_urls"]
    assert odd_keys(plugins=("page", "prodcut")) == ["plugins"]


@pytest.mark.parametrize(
    ("allow", "deny", "shadowed"),
    [
        ("/account/help", "/account/**", True),
        ("/account/*", "/account/**", True),
        ("/account/**", "/account/*", False),
        ("/p/**", "/p/*/**", False),
        ("/p/**", "/p/**", True),
        ("/p/*", "/p/x*", False),
        ("/p/*", "/**/*", True),
        ("/**/*.pdf", "/**/*.pdf", True),
        ("/**/*.pdf", "/*.pdf", False),
        ("/p/**", "/**?sort=*", False),
        ("/p?sort=*", "/**?*sort=*", True),
        ("/p?page=*", "/**?*sort=*", False),
        ("/p", "/q", False),
    ],
)
def test_a_rule_that_allows_nothing(allow: str, deny: str, *, shadowed: bool) -> None:
    """All that it speaks of is denied."""
    assert ("allow" in odd_keys(allow=("/", allow), deny=(deny,))) == shadowed


def test_several_rules_may_shadow_one() -> None:
    """No single one of them denies everything."""
    assert odd_keys(allow=("/", "/p/**"), deny=("/p", "/p/*", "/p/*/*")) == []
    assert odd_keys(allow=("/", "/p/**"), deny=("/p", "/p/*", "/p/*/**")) == ["allow"]


def test_the_operators_source_hides_the_bundled_one(write: Callable[[str], Path]) -> None:
    """By its code, in whichever case, and with what it ignores; a file that cannot be read is an error."""
    path = write(
        '[sources.HC]\nstart_urls = ["https://other.example/"]\nignore_text = ["mine"]\n'
        '[sources.Shop]\nstart_urls = ["https://shop.example/"]\nignore_selectors = [".ad"]\n'
        '[sources.plain]\nstart_urls = ["https://plain.example/"]\n'
    )
    known = known_sources(path)
    assert set(known) == {"hc", "phac", "shop", "plain"}
    assert known["hc"].start_urls == ("https://other.example/",)
    ignored = ignored_by_source(path)
    assert (ignored["hc"], ignored["shop"]) == (Ignored((), ("mine",)), Ignored((".ad",), ()))
    assert "plain" not in ignored
    assert set(known_sources(path.with_name("absent.toml"))) == {"hc", "phac"}
    with pytest.raises(CrawlerError):
        ignored_by_source(write("[sources"))
