"""Scrapy extensions: what accompanies a crawl from its start to its end."""
