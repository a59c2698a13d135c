"""Product pages: the rule, its signals, the facts, the candidates."""
