"""What was captured, found again: words, queries, the index, the search."""
