"""Vitrine: polite crawls, product pages judged by rule, dated evidence."""

__version__ = "0.1.0"
