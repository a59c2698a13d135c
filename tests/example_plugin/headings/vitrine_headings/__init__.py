"""An example of a plugin that lives in a package of its own."""
