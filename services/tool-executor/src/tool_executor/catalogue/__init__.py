"""The tools: one file for each category, with declarations and functions."""
