"""The format in which archives exchange what was sent: records, one gzip member each. Pure."""
