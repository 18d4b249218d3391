"""Kill processes that queue and extract turns, and see what is left."""
