"""HTML as such: charset, nesting, visible text. Pure."""
