"""Finding what was said: passages of a user's own conversations, ranked by a question."""
