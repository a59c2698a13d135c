"""Plugins as they should not be; the tests install them beside a good one."""
