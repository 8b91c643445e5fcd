"""Records of turns, from which they can be replayed."""
