"""Durable runs: their tasks and workers, in stores that know nothing of Scrapy."""
