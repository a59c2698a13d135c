"""scrapy-redis' own settings, and one line for Vitrine."""

BOT_NAME = "fleet"
SPIDER_MODULES = ["fleet.spiders"]

ADDONS = {"crawler.addon.Vitrine": 100}

# REDIS_URL comes from the environment: both scrapy-redis and Vitrine's domain locks use it.
SCHEDULER = "scrapy_redis.scheduler.Scheduler"
DUPEFILTER_CLASS = "scrapy_redis.dupefilter.RFPDupeFilter"
# Without this line the first worker that ends empties the queue of all.
SCHEDULER_PERSIST = True

# All items in one list of Redis would need scrapy-redis' pipeline, which Scrapy 2.14 and later warn about.
FEEDS = {"items-%(worker)s.jsonl": {"format": "jsonlines"}}
