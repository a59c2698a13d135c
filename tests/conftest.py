"""What every test shares."""

pytest_plugins = ["tests.servers", "tests.example_plugins"]
