"""What a turn was made from and what came of it, kept so that it can be done again."""
