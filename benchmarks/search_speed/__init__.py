"""What a search costs: one user, many users, after a restart, beside its peers."""
