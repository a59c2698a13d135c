"""The domain gate under load and under failure, against real servers."""
