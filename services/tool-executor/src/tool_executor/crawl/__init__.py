"""Reads a company's whole site, page by page. Executors share the work, and any of them may die at any point."""
