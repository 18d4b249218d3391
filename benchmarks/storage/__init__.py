"""What our stores cost against LangGraph's `InMemoryStore` and `SqliteStore`."""
