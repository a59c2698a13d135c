"""What has had its time goes: expired evidence is found, deleted, marked and counted."""
