"""Views for people who ask in SQL: sessions, pages and prices, each with what is mostly wanted beside them.

They say nothing that the tables do not say. Every upgrade makes them anew, for a database changes no table
that a view looks at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection

_SESSIONS = """
SELECT s.id AS session_id, s.kind, s.run_id, s.domain, s.url, s.status, s.error_summary, s.cause, s.mode,
    s.pdp_url, s.low_confidence, s.created_at, s.started_at, s.finished_at,
    (SELECT count(*) FROM pages p WHERE p.session_id = s.id AND p.status = 'ok') AS pages,
    (SELECT count(*) FROM artifacts a WHERE a.session_id = s.id AND a.deleted_at IS NULL) AS files,
    (SELECT coalesce(sum(a.size_bytes), 0) FROM artifacts a
        WHERE a.session_id = s.id AND a.deleted_at IS NULL) AS bytes,
    (SELECT min(a.retention_until) FROM artifacts a
        WHERE a.session_id = s.id AND a.deleted_at IS NULL) AS html_goes_at
FROM sessions s
"""
_PAGES = """
SELECT p.id AS page_id, p.session_id, s.run_id, s.domain, p.page_type, p.viewport, p.status, p.url,
    p.http_status, {is_product} AS is_product, {name} AS product, {price} AS price, {currency} AS currency,
    p.listing_id, p.content_sha256, p.created_at,
    (SELECT min(a.storage_uri) FROM artifacts a
        WHERE a.page_id = p.id AND a.type = 'html_gz' AND a.deleted_at IS NULL) AS html
FROM pages p JOIN sessions s ON s.id = p.session_id
"""
_PRICES = """
SELECT h.id AS price_id, h.listing_id, l.domain, l.url AS product_url, l.name AS product, l.brand, l.sku,
    l.gtin, h.currency, {amount} AS price, {list_amount} AS list_price, h.availability, h.seen_at,
    h.url AS seen_on, h.content_sha256, h.session_id
FROM price_history h JOIN listings l ON l.id = h.listing_id
"""
_SQLITE = {
    "is_product": "json_extract(p.verdict, '$.is_pdp')",
    "name": "json_extract(p.facts, '$.name')",
    "price": "json_extract(p.facts, '$.price')",
    "currency": "json_extract(p.facts, '$.currency')",
    "amount": "h.price / 10000.0",
    "list_amount": "h.list_price / 10000.0",
}
_POSTGRESQL = {
    "is_product": "CAST(p.verdict ->> 'is_pdp' AS boolean)",
    "name": "p.facts ->> 'name'",
    "price": "p.facts ->> 'price'",
    "currency": "p.facts ->> 'currency'",
    "amount": "trim_scale(h.price)",
    "list_amount": "trim_scale(h.list_price)",
}
VIEWS = {"v_sessions": _SESSIONS, "v_pages": _PAGES, "v_prices": _PRICES}


def make(connection: Connection) -> None:
    """Make all of them; none is there."""
    words = _SQLITE if connection.dialect.name == "sqlite" else _POSTGRESQL
    for name, query in VIEWS.items():
        connection.execute(text(f"CREATE VIEW {name} AS {query.format(**words)}"))


def drop(connection: Connection) -> None:
    """Take away those that are there."""
    for name in VIEWS:
        connection.execute(text(f"DROP VIEW IF EXISTS {name}"))
