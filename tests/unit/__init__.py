"""Units alone, without servers."""
