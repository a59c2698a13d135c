"""Sessions: their states, what is written for them, their outcome."""
