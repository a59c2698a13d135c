"""A fleet of scrapy-redis workers with Vitrine's add-on."""
