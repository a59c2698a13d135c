"""What every test shares."""

pytest_plugins = ["tests.bounds", "tests.side_by_side", "tests.servers", "tests.example_plugins"]
