"""/docs: the guide, the API reference, and a search over both."""
