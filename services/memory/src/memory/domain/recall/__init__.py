"""Search in a user's own conversations: passages, ranked for a question."""
