"""What queueing a turn costs a graph."""
