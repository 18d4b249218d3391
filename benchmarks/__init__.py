"""Measurements of this package, next to the stores that LangGraph ships."""
