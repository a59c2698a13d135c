"""The workshop: each module has a router below `/admin`, which the app guards."""
