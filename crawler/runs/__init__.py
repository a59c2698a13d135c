"""Durable runs: their sources, tasks, workers and ends."""
