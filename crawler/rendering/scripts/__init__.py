"""What runs in pages: each file is one expression, a function, with a word on it above."""
