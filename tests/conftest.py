"""What every test shares."""

pytest_plugins = ["tests.side_by_side", "tests.servers", "tests.example_plugins"]
