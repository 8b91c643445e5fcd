"""Analyses driven: taken from the bus, step by step in their record, to a report."""
