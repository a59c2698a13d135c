"""What the browser does on a page."""
