"""Update policies: what an extractor may write."""
