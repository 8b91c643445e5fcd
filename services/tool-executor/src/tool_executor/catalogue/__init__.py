"""The tools: one file a category, each with its declarations and functions, collected here in the spec's order."""
