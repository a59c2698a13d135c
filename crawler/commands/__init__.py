"""Scrapy commands of this project; `crawl` checks what it was given before it starts."""
