"""Small operator scripts: they call crawler, and hold no logic."""
