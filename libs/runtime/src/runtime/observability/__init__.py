"""Logs, metrics and traces, and the ids that connect them."""
