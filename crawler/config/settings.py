"""Every setting: its name in capitals is its variable's name."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict

from crawler.config.place import ProjectEnvFile, defaults
from crawler.config.values import (
    CommandLine,
    Contact,
    DatabaseUrl,
    Days,
    Encoding,
    Environment,
    Folder,
    HostNames,
    HostsAndNetworks,
    KeyPattern,
    Locale,
    Milliseconds,
    Networks,
    Origins,
    ProxyUrl,
    RedisUrl,
    ReplayUrl,
    Seconds,
    SecretCommandLine,
    SecretUrl,
    StoreAddress,
    Takes,
    TimeZone,
    Token,
    WebUrl,
)

if TYPE_CHECKING:
    from pydantic_settings import PydanticBaseSettingsSource

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
LOCAL_ORIGINS = ("http://localhost:3000", "http://localhost:5173")
# Where a missing token is a mistake, not a choice.
GUARDED_ENVIRONMENTS = frozenset({"production", "staging"})
_DAYS_30 = 30 * 86_400


class Settings(BaseSettings):
    """Everything that an operator can set, in the order of the documentation."""

    model_config = SettingsConfigDict(
        frozen=True, env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore",
        case_sensitive=False, validate_default=True, hide_input_in_errors=True,
    )  # fmt: skip

    # Where things are stored: database, artifacts, archives, Redis; and the log
    vitrine_home: Annotated[Path, Takes("a folder")] = Field(
        Path("var"), description="Folder of the database and the artifacts, when nothing else is said."
    )
    database_url: DatabaseUrl = Field(
        "", repr=False, description="SQLite or PostgreSQL; empty: `vitrine.db` in `VITRINE_HOME`."
    )
    database_pool_size: Annotated[int, "connections"] = Field(
        15,
        ge=3,
        le=200,
        description="How many connections to PostgreSQL a process opens at most; a third of them it keeps.",
    )
    artifacts_dir: StoreAddress = Field(
        "",
        repr=False,
        description="Folder or bucket of the stored evidence; empty: `artifacts` in `VITRINE_HOME`.",
    )
    archive_root: Folder = Field(
        "", description="Folder of the archives; empty: `archive` in `VITRINE_HOME`."
    )
    aws_endpoint_url: WebUrl = Field(
        "", description="Where the bucket of `ARTIFACTS_DIR` is served, when it is not at Amazon."
    )
    aws_region: Annotated[str, Takes("a region's name")] = Field("", description="The bucket's region.")
    aws_access_key_id: Annotated[SecretStr, Takes("the key's name")] = Field(
        SecretStr(""), description="Key for the bucket; empty: as the machine's role or environment says."
    )
    aws_secret_access_key: Annotated[SecretStr, Takes("the key's secret")] = Field(
        SecretStr(""), description="The secret of that key."
    )
    warc_dir: Folder = Field(
        "",
        description="Folder for WARC files of everything that a crawl sends and receives; empty: none are "
        "written, unless `PAGE_STORE` is `warc`, which then has them in `warcs` in `VITRINE_HOME`.",
    )
    warc_max_bytes: Annotated[int, "bytes"] = Field(
        1_000_000_000,
        ge=1,
        le=1_000_000_000_000,
        description="The size from which on a WARC file is ended, and another begun.",
    )
    warc_revisits: Literal["off", "url", "payload"] = Field(
        "off",
        description="What a WARC file has already is stored as a revisit: never, when the same URL gives it "
        "again, or whichever gives it.",
    )
    page_store: Literal["auto", "files", "warc"] = Field(
        "auto",
        description="Where pages of durable runs are kept: as files of their own, in WARC files, or `auto`, "
        "which is the latter where `WARC_DIR` is set.",
    )
    redis_url: RedisUrl = Field(
        "",
        repr=False,
        description="Redis that holds the locks for all machines; empty: locks reach this machine only.",
    )
    store_patience_seconds: Seconds = Field(
        30,
        ge=0,
        le=3_600,
        description="How long a database or an artifact store that refuses is waited for, from its first "
        "refusal; pages are held meanwhile, and none is asked for.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        "INFO", description="The least level that is logged."
    )
    log_format: Literal["text", "json"] = Field("text", description="`json` writes one JSON object a line.")

    # Who asks a site, what may be reached, and how polite a crawl is
    contact_url: Contact = Field(
        "https://vitrine.example/crawler",
        description="Where a site's owner learns who crawls; stands in the user agent.",
    )
    egress_allow: HostsAndNetworks = Field(
        (),
        description="Hosts and networks that may be fetched although they are private, separated by commas.",
    )
    proxy_url: ProxyUrl = Field(
        "",
        repr=False,
        description="A proxy for all pages; it decides what may be reached. The environment's are ignored.",
    )
    domain_lock_ttl_seconds: Seconds = Field(
        300, ge=1, le=86_400, description="How long a lock outlives a holder that died."
    )
    domain_lock_max_retries: int = Field(
        3, ge=1, le=20, description="Attempts to get a lock that somebody else holds."
    )
    domain_lock_backoff_base_ms: Milliseconds = Field(
        1000, ge=1, le=60_000, description="First wait between two attempts; it doubles each time."
    )
    domain_throttle_ttl_seconds: Seconds = Field(
        60, ge=1, le=86_400, description="How long the end of a session is remembered."
    )
    domain_min_delay_ms: Milliseconds = Field(
        2000, ge=0, le=3_600_000, description="Least time between two sessions of a domain."
    )
    domain_max_delay_seconds: Seconds = Field(
        300,
        ge=0,
        le=86_400,
        description="The longest delay that a site may ask for with Retry-After or Crawl-delay.",
    )
    robots_patience_seconds: Seconds = Field(
        300,
        ge=0,
        le=2_592_000,
        description="How long a run asks again for a robots.txt that cannot be had, before that domain's "
        "pages fail.",
    )
    domain_queue_wait_seconds: Seconds = Field(
        0,
        ge=0,
        le=86_400,
        description="How long to wait for a domain that another session holds, before attempts count.",
    )
    disable_throttle: bool = Field(default=False, description="Skip the wait between sessions (for tests).")
    disable_locks: bool = Field(default=False, description="Skip locks and waits altogether (for tests).")

    # Sessions, durable runs and fleets
    session_max_seconds: Seconds = Field(
        1200, ge=1, le=86_400, description="The longest that a session may hold its domain."
    )
    sessions_at_once: int = Field(
        8, ge=1, le=256, description="Sessions of different domains that run side by side in one process."
    )
    crawl_policy_version: Literal["v1.2", "v1.3"] = Field(
        "v1.2", description="The rule that decides which page is a product page."
    )
    judge_pages: bool = Field(
        default=True,
        description="Judge the pages of durable runs; without it a page gives its links alone, and no "
        "verdict, facts or product.",
    )
    sources_file: Annotated[Path, Takes("a file")] = Field(
        Path("sources.toml"), description="The file of sources, for crawls of whole sites by name."
    )
    task_lease_seconds: Seconds = Field(
        30, ge=1, le=3_600, description="How long a task of a run stays with a process that died."
    )
    task_max_retries: int = Field(
        3, ge=1, le=100, description="How often a page of a run is tried, unless its source says otherwise."
    )
    task_backoff_min_seconds: Seconds = Field(
        1, ge=0, le=3_600, description="The first rest before a page of a run is tried again."
    )
    task_backoff_multiplier: Annotated[float, Takes("a number from 1 to 100")] = Field(
        2, ge=1, le=100, description="By how much each rest is longer than the one before."
    )
    task_backoff_max_seconds: Annotated[
        Seconds, Takes("a whole number of seconds from 1 to 86400, no less than TASK_BACKOFF_MIN_SECONDS")
    ] = Field(60, ge=1, le=86_400, description="The longest rest before a page is tried again.")
    task_jitter_seconds: Seconds = Field(
        1,
        ge=0,
        le=300,
        description="The longest random pause between an answer and a run's next request to that domain, "
        "unless its source says otherwise.",
    )
    fleet: bool = Field(
        default=False,
        description="Work as one of a fleet that is fed through the Redis of `REDIS_URL`.",
    )
    redis_start_urls_key: KeyPattern = Field(
        "%(name)s:start_urls", description="The key that feeds a fleet; `%(name)s` is the spider's name."
    )
    redis_encoding: Encoding = Field("utf-8", description="The encoding of what a fleet is fed.")
    redis_start_urls_batch_size: int = Field(
        0, ge=0, le=10_000, description="Entries that a worker takes in one go; 0: as it has room for."
    )
    max_idle_time_before_close: Seconds = Field(
        0, ge=0, le=31_536_000, description="A worker ends after so long with nothing to do; 0: never."
    )
    fleet_max_deaths: int = Field(
        3, ge=1, le=100, description="Workers of a fleet that may die with a session before it is given up."
    )
    plugin_timeout_seconds: Seconds = Field(
        30, ge=1, le=3_600, description="The longest that a plugin of a run's source may look at one page."
    )

    # Pages in a browser
    chromium_path: Annotated[str, Takes("a program's path")] = Field(
        "", description="Chromium's program; empty: the one on the PATH, or Playwright's own."
    )
    render_locale: Locale = Field(
        "en-US", description="The language that the browser asks for and writes numbers in."
    )
    render_timezone: TimeZone = Field("UTC", description="The time zone that the browser is in.")
    render_idle_ms: Milliseconds = Field(
        800, ge=0, le=30_000, description="A page is ready once no request of it was under way for so long."
    )
    render_stable_ms: Milliseconds = Field(
        1000, ge=0, le=30_000, description="A page is ready once nothing in it has changed for so long."
    )
    render_min_ms: Milliseconds = Field(
        2000, ge=0, le=60_000, description="A page is ready so long after it was loaded at the earliest."
    )
    render_ready_max_ms: Milliseconds = Field(
        15_000, ge=100, le=120_000, description="What is not ready by then is taken as it is, with a warning."
    )
    render_scroll_steps: int = Field(
        20, ge=0, le=200, description="Steps of four fifths of a window in which a page is scrolled down."
    )
    render_scroll_wait_ms: Milliseconds = Field(
        2000, ge=0, le=30_000, description="The longest that each step waits for what it brought."
    )
    render_bottom_ms: Milliseconds = Field(
        2000, ge=0, le=30_000, description="How long a page is looked at from its bottom."
    )
    render_settle_ms: Milliseconds = Field(
        2000, ge=0, le=30_000, description="The longest that a page may take to settle, back at its top."
    )
    render_popup_settle_ms: Milliseconds = Field(
        750, ge=0, le=30_000, description="The pause after a popup was dismissed."
    )
    render_page_seconds: Seconds = Field(
        120, ge=5, le=600, description="The longest that one page may be rendered."
    )
    render_max_requests: int = Field(
        1000, ge=1, le=100_000, description="Requests that a page may send; those beyond are not sent."
    )
    render_max_mb: int = Field(
        64, ge=1, le=4096, description="Megabytes that a page may bring over the wire; then it is cut off."
    )
    render_block_media: bool = Field(
        default=True,
        description="Do not fetch videos and sounds.",
    )
    render_screenshot_max_px: int = Field(
        15_000, ge=500, le=16_000, description="The height up to which a page is photographed."
    )
    render_pages_at_once: int = Field(
        3, ge=1, le=32, description="Pages that are rendered side by side in one process."
    )
    render_browser_pages: int = Field(
        100, ge=1, le=100_000, description="Pages after which the browser is started anew."
    )

    # Archive jobs
    tool_cmd: CommandLine = Field(
        "",
        description="A program that makes all jobs; empty: our own engine, or `vitrine-archive-tool`.",
    )
    job_lease_seconds: Seconds = Field(
        60, ge=1, le=3_600, description="How long a job stays with a worker whose machine died."
    )
    job_max_seconds: Seconds = Field(
        _DAYS_30, ge=10, le=31_536_000, description="The longest that one attempt at a job may take."
    )
    max_crawl_retries: int = Field(
        2, ge=0, le=100, description="How often a job whose crawl failed is tried again."
    )
    job_disk_limit_percent: Annotated[int, "percent"] = Field(
        85, ge=1, le=100, description="No crawl of a job begins on a file system that is so full."
    )
    index_max_bad_percent: Annotated[int, "percent"] = Field(
        50, ge=0, le=100, description="A job of which more cannot be read is not indexed."
    )
    pages_fastpath: bool = Field(
        default=True,
        description="All pages are listed from what is known of each, not from all of their snapshots.",
    )
    zimit_image: Annotated[str, Takes("a Docker image's name")] = Field(
        "ghcr.io/openzim/zimit", description="The image that the engine `zimit` runs."
    )

    # Replay, and what changed between captures
    replay_base_url: ReplayUrl = Field(
        "",
        description="Where archived pages are shown: the origin of this server that serves nothing but their "
        "content, or, with a path in it, the collection of a pywb that does. Empty: beside the reading room. "
        "Where it is set, `jobs cleanup` asks for `--force`.",
    )
    change_tracking_enabled: bool = Field(
        default=True, description="Whether captures of a page are compared with the ones before."
    )

    # How long things are kept
    html_retention_days: Days = Field(
        14, ge=1, le=36_500, description="Days that the HTML of a session is kept."
    )
    retention_cleanup_enabled: bool = Field(
        default=False,
        description="Whether requests to the web process may start a cleanup; the command does not ask.",
    )
    retention_cleanup_batch_size: int = Field(
        100, ge=1, le=100_000, description="Artifacts that one pass of the cleanup takes."
    )
    retention_cleanup_dry_run: bool = Field(
        default=False, description="Print what a cleanup would delete, and write nothing."
    )

    # The web side
    app_env: Environment = Field(
        "development",
        description="Where this runs; in `production` and `staging` nothing is open without `ADMIN_TOKEN`.",
    )
    admin_token: Token = Field(
        SecretStr(""),
        description="Opens the workshop (`/admin`), its API and the metrics; empty: nothing can be changed.",
    )
    api_secret_key: Token = Field(
        SecretStr(""),
        description="Opens `/audits`, where other programs have sites visited; empty: that is open to this "
        "machine alone, and to nobody in `production` and `staging`.",
    )
    public_hosts: HostNames = Field(
        LOOPBACK_NAMES,
        description="The names under which the web side answers; requests for any other are refused.",
    )
    cors_origins: Origins = Field(
        LOCAL_ORIGINS, description="Origins whose scripts may read the public API, separated by commas."
    )
    trusted_proxies: Networks = Field(
        (), description="Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed."
    )
    rate_limit_per_minute: int = Field(
        120,
        ge=0,
        le=1_000_000,
        description="Requests that one address may send in a minute, half of it searches; 0: any number. "
        "This machine itself is not counted.",
    )
    web_read_only: bool = Field(
        default=False, description="Show everything, and refuse every change, with the token too."
    )
    exports_enabled: bool = Field(default=True, description="Give out lists of snapshots and changes.")

    # Notices of what happened
    notify_command: SecretCommandLine = Field(
        SecretStr(""),
        description="A program that is given a JSON document on standard input when something happened.",
    )
    notify_url: SecretUrl = Field(
        SecretStr(""), description="Where that document is sent with POST; what it answers is not shown."
    )

    @classmethod
    def settings_customise_sources(  # ruff: ignore[too-many-positional-arguments] - pydantic's signature
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # ruff: ignore[unused-class-method-argument] - the same
        file_secret_settings: PydanticBaseSettingsSource,  # ruff: ignore[unused-class-method-argument]
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given, the environment, the project's `.env`, and where the project lies."""
        placed = InitSettingsSource(settings_cls, init_kwargs=defaults())
        return init_settings, env_settings, ProjectEnvFile(settings_cls), placed

    @field_validator("task_backoff_max_seconds")
    @classmethod
    def _rests_grow(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("task_backoff_min_seconds", 0):
            raise ValueError("minimum")
        return value

    @cached_property
    def database(self) -> str:
        """The database's URL, the embedded one where none is set."""
        return self.database_url or f"sqlite:///{self.vitrine_home / 'vitrine.db'}"

    @cached_property
    def warcs(self) -> Path:
        """The folder of the WARC files."""
        return Path(self.warc_dir) if self.warc_dir else self.vitrine_home / "warcs"

    @cached_property
    def pages_in_warcs(self) -> bool:
        """Whether pages of durable runs are kept in WARC files."""
        return self.page_store == "warc" or (self.page_store == "auto" and bool(self.warc_dir))

    @cached_property
    def is_recording(self) -> bool:
        """Whether all that a crawl sends and receives is written into WARC files."""
        return bool(self.warc_dir) or self.pages_in_warcs

    @cached_property
    def artifacts(self) -> Path:
        """The folder of the stored evidence."""
        return Path(self.artifacts_dir) if self.artifacts_dir else self.vitrine_home / "artifacts"

    @cached_property
    def archives(self) -> Path:
        """The folder of the archives, in full: the tool that makes one stands elsewhere."""
        return (Path(self.archive_root) if self.archive_root else self.vitrine_home / "archive").absolute()

    @cached_property
    def user_agent(self) -> str:
        """How a crawl names itself to sites."""
        from crawler import __version__  # ruff: ignore[import-outside-top-level] - the package must not import itself

        return f"Vitrine/{__version__} (+{self.contact_url})"

    @cached_property
    def replay_origin(self) -> str:
        """The origin on which this server shows content, and nothing else; empty where it has none."""
        return "" if self.foreign_replay else self.replay_base_url

    @cached_property
    def foreign_replay(self) -> str:
        """The collection of another program that replays; empty where this one does."""
        return self.replay_base_url if urlsplit(self.replay_base_url).path else ""

    @cached_property
    def is_guarded(self) -> bool:
        """Whether a missing token closes what it would open."""
        return self.app_env in GUARDED_ENVIRONMENTS

    @cached_property
    def served_hosts(self) -> frozenset[str]:
        """Every name that a request may be for."""
        host = urlsplit(self.replay_origin).hostname or ""
        return frozenset({*self.public_hosts, f"[{host}]" if ":" in host else host} - {""})

    @cached_property
    def pages_origin(self) -> str:
        """Where pages are, seen from an origin that archived content has for itself; empty without one."""
        if not self.replay_origin:
            return ""
        parts = urlsplit(self.replay_origin)
        own = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        name = next((each for each in self.public_hosts if each != own), own)
        return f"{parts.scheme}://{name}" + (f":{parts.port}" if parts.port else "")

    @cached_property
    def reading_origins(self) -> frozenset[str]:
        """Whose scripts may read the public API."""
        parts = urlsplit(self.replay_base_url)
        origins = self.cors_origins or LOCAL_ORIGINS
        own = {f"{parts.scheme}://{parts.netloc}".lower()} if self.replay_base_url else set[str]()
        return frozenset({*origins, *own})
