"""Does the right memory come back? Ours and its peers over the same questions."""
