"""Runs analyses: takes a request from the bus, drives it step by step in its record, and publishes the report."""
