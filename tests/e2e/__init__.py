"""The commands as people run them, against real shops on loopback."""
