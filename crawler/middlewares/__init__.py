"""Downloader and spider middlewares, in the order of crawler.settings."""
