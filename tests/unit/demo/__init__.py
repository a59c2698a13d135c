"""Tests of the demo: what it shows, what it does on the wire, what it leaves behind."""
