"""What the components of one crawl share."""
