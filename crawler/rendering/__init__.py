"""Pages as a browser shows them: Chromium found and enclosed, pages settled, popups dismissed."""
