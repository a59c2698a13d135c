"""The cleanup with a database and files."""
