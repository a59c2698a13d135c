"""The pages: each module has a router, and shows what the views answer."""
