"""Environment and `.env` become one frozen, documented Settings value."""

from crawler.config.loading import (
    CRAWL_ORDER,
    SCRAPYS_NAMES,
    load_settings,
    load_settings_from,
    setting_docs,
    shell_settings,
    shown,
    takes,
    unknown_settings,
)
from crawler.config.place import env_file, unread_env_file
from crawler.config.settings import LOOPBACK_NAMES, Settings
from crawler.config.values import S3_SCHEME

__all__ = [
    "CRAWL_ORDER",
    "LOOPBACK_NAMES",
    "S3_SCHEME",
    "SCRAPYS_NAMES",
    "Settings",
    "env_file",
    "load_settings",
    "load_settings_from",
    "setting_docs",
    "shell_settings",
    "shown",
    "takes",
    "unknown_settings",
    "unread_env_file",
]
