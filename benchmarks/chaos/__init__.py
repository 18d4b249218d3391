"""Several processes write one user's memories at once, some are killed: all adds up."""
