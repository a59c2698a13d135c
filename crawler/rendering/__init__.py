"""Pages as a browser shows them: Chromium found and fenced, pages settled, popups dismissed."""
