"""Structured logs: an event's name and its fields, as a line for people or as one JSON object."""

from __future__ import annotations

import json
import logging
import re
import sys
from copy import copy
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import structlog

from crawler.errors import CrawlerError
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from structlog.typing import EventDict, WrappedLogger

# A control character in a value must not reach the terminal.
_PLAIN_VALUE = re.compile(r"[^\s\"'=\x00-\x1f\x7f-\x9f]+")
TEXT_FORMAT = "%(asctime)s [%(levelname)s] %(name)s: %(message)s"


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger whose calls are `log.info("event.name", field=value)`; it goes through stdlib logging."""
    return structlog.stdlib.get_logger(name)


def configure(level: str, log_format: str) -> None:
    """Log to standard error; for commands. Crawls keep the handler that Scrapy installs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter_for(log_format))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("sqlalchemy.engine").setLevel(logging.WARNING)  # it logs each statement, and its values


def formatter_for(log_format: str, inner: logging.Formatter | None = None) -> logging.Formatter:
    """Return the formatter of `LOG_FORMAT=text` or `json`; `inner` makes the text line without the fields."""
    return JsonFormatter() if log_format == "json" else TextFormatter(inner or logging.Formatter(TEXT_FORMAT))


def show_fields(handlers: Iterable[logging.Handler], log_format: str) -> None:
    """Have handlers of somebody else's, such as Scrapy's, show events with their fields and hide secrets."""
    for handler in handlers:
        if not isinstance(handler.formatter, TextFormatter | JsonFormatter):
            handler.setFormatter(formatter_for(log_format, handler.formatter or logging.Formatter()))
            handler.addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Drop an event loop's complaint of an error of ours that nobody awaited; it is logged already."""
    error = record.exc_info[1] if record.exc_info else None
    return not (record.name in {"asyncio", "twisted"} and isinstance(error, CrawlerError))


class TextFormatter(logging.Formatter):
    """A line for people: that of another formatter, with the fields behind the message."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, tracebacks included, without passwords."""
        record = _without_known_traceback(record)
        if fields := _fields(record):
            shown = (f"{name}={_as_value(value)}" for name, value in fields.items())
            record = copy(record)
            record.msg, record.args = " ".join((record.getMessage(), *shown)), None
        return redacted(self._inner.format(record))


class JsonFormatter(logging.Formatter):
    """A line for machines: one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Put the record's fields beside time, level, logger and event."""
        record = _without_known_traceback(record)
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        for name, value in _fields(record).items():
            entry[f"{name}_" if name in entry else name] = value
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return redacted(json.dumps(entry, default=str, ensure_ascii=False))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return getattr(record, "fields", {})


def _as_value(value: object) -> str:
    text = str(value)
    return text if _PLAIN_VALUE.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _without_known_traceback(record: logging.LogRecord) -> logging.LogRecord:
    """An error of our own says what went wrong, and needs no traceback; at DEBUG it has one all the same."""
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, CrawlerError) or _debugging():
        return record
    plain = copy(record)
    plain.exc_info = plain.exc_text = None
    fields = _fields(record)
    plain.fields = {**fields, "error": fields.get("error", str(error))}
    return plain


def _debugging() -> bool:
    root = logging.getLogger()  # Scrapy leaves the level to its handler, commands to the logger
    return root.isEnabledFor(logging.DEBUG) and any(h.level <= logging.DEBUG for h in root.handlers)


def _hand_over(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    passed = {name: event.pop(name) for name in ("exc_info", "stack_info") if name in event}
    return {"msg": event.pop("event"), **passed, "extra": {"fields": event}}


structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.filter_by_level,
        _hand_over,
    ],
    wrapper_class=structlog.stdlib.BoundLogger,
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
