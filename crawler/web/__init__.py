"""The web side: pages, API and metrics on what the views answer. It never loads a crawl."""
