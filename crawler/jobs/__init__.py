"""Archive jobs: a source archived on order, whatever dies."""
