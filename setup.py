"""Kept for tools that build eggs; everything is in pyproject.toml."""

from setuptools import setup

setup()
