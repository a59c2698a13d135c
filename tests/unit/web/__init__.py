"""The web side, asked over real sockets."""
