"""Sessions: their outcome, their store, their book."""
