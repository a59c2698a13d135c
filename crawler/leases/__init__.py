"""Mine for a while: rules, rows, and what renews them."""
