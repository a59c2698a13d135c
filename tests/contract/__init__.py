"""What every adapter of a port must do, run against each."""
