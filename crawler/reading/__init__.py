"""One pass over a page: verdict, facts, text and links. Done in processes of its own, beside the crawl."""

from crawler.reading.page import PageQuestion, Reading, read_page_of
from crawler.reading.readers import Readers, ReadingFailedError

__all__ = ["PageQuestion", "Readers", "Reading", "ReadingFailedError", "read_page_of"]
