"""A page on its way into the store: its items, its files' types, its failures."""
