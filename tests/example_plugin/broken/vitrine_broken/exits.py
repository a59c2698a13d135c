"""Leaves as soon as it is imported."""

import sys

sys.exit("this plugin does not like it here")
