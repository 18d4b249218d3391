"""The rules: items, filters and memory verbs in terms of a backend and a ranker."""
