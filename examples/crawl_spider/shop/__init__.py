"""An ordinary Scrapy project that keeps evidence of the pages it sees."""
