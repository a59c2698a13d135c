"""Scrapy's settings. scrapy-playwright's handlers are not among them: the add-on brings its own browser."""

BOT_NAME = "rendered"
SPIDER_MODULES = ["rendered.spiders"]
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 1

ADDONS = {"crawler.addon.Vitrine": 100}
