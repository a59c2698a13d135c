"""What was seen, kept: named, compressed, digested, written whole or not at all."""
