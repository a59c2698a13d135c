"""Contracts for `scrapy check`."""
