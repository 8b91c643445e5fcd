"""Benchmarks: one file for each question. `make bench` runs them all and prints a table; `--json FILE` stores the
figures."""
