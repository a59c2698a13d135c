"""Each figure beside a peer or a limit, measured in one run."""
