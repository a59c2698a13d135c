"""Pages are read in processes of their own, beside the crawl.

Nothing is imported here: a reading process begins with what it needs, and starts in half the time.
"""
