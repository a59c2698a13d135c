"""The fleet's list on a real Redis, and its sessions in both databases."""
