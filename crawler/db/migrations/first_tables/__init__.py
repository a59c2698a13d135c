"""The tables of the first release, a module for each group of them."""
