"""What programs are answered, asked over real sockets."""
