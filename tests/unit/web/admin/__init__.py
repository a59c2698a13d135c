"""The workshop, asked over real sockets by somebody who has logged in."""
