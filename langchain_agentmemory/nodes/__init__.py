"""Graph nodes that put memories before the model."""
