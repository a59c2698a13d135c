"""The test suite; tests/unit mirrors crawler/."""
