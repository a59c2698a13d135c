"""A visit to a domain: its states, owner, epoch, heartbeat and log."""
