"""What people read, asked over real sockets."""
