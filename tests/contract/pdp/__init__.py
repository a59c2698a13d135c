"""Saved pages, one trap or idiom each, with what they must be judged as."""
