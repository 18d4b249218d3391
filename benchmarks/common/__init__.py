"""What the reports of several benchmarks have in common."""
