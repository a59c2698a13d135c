"""The project's settings, without Vitrine."""

BOT_NAME = "things"
SPIDER_MODULES = ["tests.e2e.things.spiders"]
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 0
RETRY_PRIORITY_ADJUST = -1
FEED_EXPORT_ENCODING = "utf-8"
USER_AGENT = "things (+https://things.example/)"
