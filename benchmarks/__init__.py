"""Benchmarks: one file a question. `make bench` runs them all and prints a table; `--json FILE` keeps the figures."""
