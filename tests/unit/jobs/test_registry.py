"""Sources as jobs know them: registered, named, and made into what a job is told."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from attrs import evolve

from crawler.config import Settings, load_settings
from crawler.errors import CrawlerError, UsageError
from crawler.jobs import registry
from crawler.runs.sources import Source

NOW = datetime(2025, 12, 9, 21, 9, 11, tzinfo=UTC)
SHOP = Source("shop", "Shop", ("https://shop.example/",), ("shop.example",))
ZIMIT = evolve(SHOP, engine="zimit", engine_args=("--lang", "fr"), depth=3, max_pages=10)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Nothing is allowed that is private."""
    return load_settings({"EGRESS_ALLOW": ""})


def test_what_a_job_is_told(settings: Settings) -> None:
    """SPEC 32: the source's word, then the order's; and it is JSON."""
    source = evolve(SHOP, job={"initial_workers": 2, "cleanup": True})
    more = ["https://shop.example/", "https://other.example/x"]
    config = registry.job_config(source, settings, more, {"initial_workers": 5}, passthrough=["-s", "A=1"])
    assert config["seeds"] == ["https://shop.example/", "https://other.example/x"]
    assert config["tool_options"] == {"relax_perms": True, "initial_workers": 5, "cleanup": True}
    served = load_settings({"APP_ENV": "Production"})
    assert registry.job_config(SHOP, served)["tool_options"]["relax_perms"] is False
    assert config["zimit_passthrough_args"] == ["-s", "A=1"]
    assert Source.of_plan(json.loads(json.dumps(config))["source"]).allowed_domains == (
        "shop.example", "other.example",
    )  # fmt: skip
    assert source.job == {"initial_workers": 2, "cleanup": True}


def test_zimit_is_told_its_arguments_and_the_limits(settings: Settings) -> None:
    """Which the other engine reads in the source."""
    config = registry.job_config(ZIMIT, settings, passthrough=["--x"])
    limits = ["--depth", "3", "--pageLimit", "10"]
    assert config["zimit_passthrough_args"] == [*limits, "--lang", "fr", "--x"]


@pytest.mark.parametrize(
    "seed",
    [
        "shop", "ftp://shop.example/", "https://user:secret@shop.example/", "http://127.0.0.1/", "http://2130706433/",
        "http://[::1]/", "http://10.1.2.3/", "http://169.254.169.254/latest", "http://localhost:8000/",
        "http://printer.local/", "https://shop.example/a b",
    ],
)  # fmt: skip
def test_a_seed_that_is_none_is_refused(settings: Settings, seed: str) -> None:
    """No URL, or one that leads inside; no password is repeated."""
    with pytest.raises(CrawlerError) as refused:
        registry.checked_seeds([seed], settings)
    assert "secret" not in str(refused.value)


def test_so_many_seeds_and_no_more(settings: Settings) -> None:
    """Ten thousand, each once; private ones where the operator allows them."""
    many = [f"https://shop.example/{number}" for number in range(10_000)]
    assert len(registry.checked_seeds([*many, *many], settings)) == 10_000
    with pytest.raises(UsageError, match="10001 seeds are too many"):
        registry.checked_seeds([*many, "https://shop.example/"], settings)
    with pytest.raises(UsageError, match="there are no seeds"):
        registry.checked_seeds([], settings)
    allowed = load_settings({"EGRESS_ALLOW": "127.0.0.1"})
    assert registry.checked_seeds(["http://127.0.0.1:8000/"], allowed)
