"""Where items live: the backend protocol and one module per engine."""
