"""Automatic memory: from conversation to operations, in the background."""
