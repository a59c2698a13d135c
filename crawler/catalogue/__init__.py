"""Products and their prices over time, and the records of what was done: fed by the crawl as it writes."""
