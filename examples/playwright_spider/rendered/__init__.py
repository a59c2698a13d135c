"""A Scrapy project whose pages are rendered in a browser."""
