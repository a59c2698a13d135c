"""Environment and `.env` become one frozen, documented Settings value; a class for each concern."""

from crawler.config.place import env_file, unread_env_file
from crawler.config.settings import (
    CRAWL_ORDER,
    SCRAPYS_NAMES,
    Settings,
    load_settings,
    load_settings_from,
    setting_docs,
    shell_settings,
    shown,
    takes,
    unknown_settings,
)
from crawler.config.stores import S3_SCHEME

__all__ = [
    "CRAWL_ORDER",
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
