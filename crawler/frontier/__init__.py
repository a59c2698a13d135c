"""Durable runs: what is still to be fetched, who fetches it, and what came of it."""
