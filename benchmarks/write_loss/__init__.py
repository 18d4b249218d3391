"""What each policy loses, doubles and mixes up over two visits."""
