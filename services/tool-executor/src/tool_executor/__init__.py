"""Runs tool calls: finds, checks, limits, executes once, caches and logs."""
