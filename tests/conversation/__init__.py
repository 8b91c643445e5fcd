"""What several services say about one conversation, compared."""
