"""What a text says about markets, read as typed claims, and each held against what the tools gave."""
