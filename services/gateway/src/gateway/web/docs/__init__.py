"""/docs: the guide's pages, the reference of the interface, and a search over both."""
