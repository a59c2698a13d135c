"""Scrapy's settings. The last line is all that Vitrine needs."""

BOT_NAME = "shop"
SPIDER_MODULES = ["shop.spiders"]
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 1

ADDONS = {"crawler.addon.Vitrine": 100}
