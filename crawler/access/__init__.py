"""May this be fetched, now? Scope, private addresses, and one polite visitor per domain."""
