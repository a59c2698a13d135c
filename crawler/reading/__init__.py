"""Pages are read in processes of their own, beside the crawl."""

from crawler.reading.readers import Readers, ReadingFailedError

__all__ = ["Readers", "ReadingFailedError"]
