"""Programs that stand in for others in tests, and misbehave on order."""
